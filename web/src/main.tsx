/** Where the page begins. */
import { render } from "preact";
import { App } from "./App";
import { watchAttention } from "./attention";
import { watchKeyboard } from "./keyboard";
import { dropOldDrafts } from "./store/drafts";
import { watchSending } from "./store/sending";
import { begin } from "./store/stream";
import { showTheme } from "./theme";
import "./styles/all.css";

showTheme();
dropOldDrafts();
watchSending();
watchAttention();
watchKeyboard();
render(<App />, document.getElementById("page") as HTMLElement);
void begin();
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/worker.js").catch(() => undefined);
