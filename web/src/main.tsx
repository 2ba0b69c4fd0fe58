/** Where the page begins. */
import { render } from "preact";
import { App } from "./App";
import { watchAttention } from "./attention";
import { watchHands } from "./hands/all";
import { watchInstall } from "./install";
import { watchKeyboard } from "./keyboard";
import { watchPush } from "./push";
import { dropOldDrafts } from "./store/drafts";
import { watchSending } from "./store/sending";
import { begin } from "./store/stream";
import { warmUp } from "./text/markdown";
import { showTheme } from "./theme";
import "./styles/all.css";

showTheme();
dropOldDrafts();
watchSending();
watchAttention();
watchHands();
watchKeyboard();
watchInstall();
watchPush();
render(<App />, document.getElementById("page") as HTMLElement);
void begin();
(globalThis.requestIdleCallback ?? setTimeout)(warmUp);
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/worker.js").catch(() => undefined);
