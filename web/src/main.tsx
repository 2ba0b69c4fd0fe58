/** The page's entry point. */
import { render } from "preact";
import { App } from "./App";
import { watchAttention } from "./attention";
import { watchHands } from "./hands/all";
import { watchInstall } from "./install";
import { watchKeyboard } from "./keyboard";
import { watchPush } from "./push";
import { dropOldDrafts } from "./store/drafts";
import { useLastLanguage } from "./store/language";
import { watchSending } from "./store/sending";
import { begin } from "./store/stream";
import { warmUp } from "./text/markdown";
import { showTheme } from "./theme";
import { language } from "./texts";
import "./styles/all.css";

/** The whole page is redrawn in another language. */
function InLanguage() {
  return <App key={language.value} />;
}

showTheme();
dropOldDrafts();
watchSending();
watchAttention();
watchHands();
watchKeyboard();
watchInstall();
watchPush();
void useLastLanguage().then(() => {
  render(<InLanguage />, document.getElementById("page") as HTMLElement);
  return begin();
});
(globalThis.requestIdleCallback ?? setTimeout)(warmUp);
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/worker.js").catch(() => undefined);
