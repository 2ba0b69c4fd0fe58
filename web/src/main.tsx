/** The page's entry point. */
import { render } from "preact";
import { App } from "./App";
import { watchAttention } from "./attention";
import { watchHands } from "./hands/all";
import { watchInstall } from "./install";
import { watchKeyboard } from "./keyboard";
import { watchPresence } from "./presence";
import { watchPush } from "./push";
import { loadMarkdown } from "./parts/Markdown";
import { dropOldDrafts } from "./store/drafts";
import { place } from "./store/place";
import { useLastLanguage } from "./store/language";
import { watchSending } from "./store/sending";
import { begin } from "./store/stream";
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
watchPresence();
void useLastLanguage().then(() => {
  render(<InLanguage />, document.getElementById("page") as HTMLElement);
  return begin();
});
// In time for a conversation: when the page starts with one, or when someone points at one.
if (place.value.view === "session") void loadMarkdown();
addEventListener("pointerover", (event) => event.target instanceof Element && event.target.closest("a.session") && void loadMarkdown(), { passive: true });
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/worker.js").catch(() => undefined);
