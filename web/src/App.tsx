/** The page: who sees what, and where. Wide screens show everything side by side, phones have three tabs. */
import { computed, signal } from "@preact/signals";
import { Admin } from "./admin/Admin";
import { Chat } from "./chat/Chat";
import { Drawer, Inbox } from "./inbox/Inbox";
import { showKeys } from "./keyboard";
import { Icon, type IconName } from "./parts/Icons";
import { Later } from "./parts/Later";
import { narrow } from "./parts/narrow";
import { Drafting, drafting } from "./rules/drafting";
import { Searching, searching } from "./search/searching";
import { may, openAsks, removed, standing } from "./store/desk";
import { afterwards } from "./store/painting";
import { lastSession, pathOf, place } from "./store/place";
import { Starting, starting } from "./sessions/starting";
import { SessionsList } from "./sessions/SessionsList";
import { Announcer, ConnectionSign, FailedNotification, HubTrouble, NeverAsks, NoSandbox, NotUsed, TelegramTrouble, UnsafeClaude } from "./signs";
import { t } from "./texts";

const drawerHidden = signal(false);
/** How many are waiting, as the navigation says it. */
const waiting = afterwards(computed(() => openAsks.value.length));
const elsewhere = computed(() => {
  const here = place.value;
  return here.view === "session" ? openAsks.value.filter((ask) => ask.session !== here.id).length : 0;
});

export function App() {
  if (standing.value === "out") return <Later load={() => import("./Login")}>{({ LoginPage }) => <LoginPage />}</Later>;
  const { view } = place.value;
  const alone = narrow.value && view === "sessions";
  const drawer = elsewhere.value > 0 && !drawerHidden.value && !narrow.value;
  return (
    <div class={`page view-${view}${drawer ? " with-drawer" : elsewhere.value > 0 ? " drawer-hidden" : ""}`}>
      <button type="button" class="skip" onClick={skip}>
        {t("page.nav.skip")}
      </button>
      {narrow.value && (
        <header class="strips">
          <HubTrouble />
          <NeverAsks />
          <NoSandbox />
          <UnsafeClaude />
          <TelegramTrouble />
          <FailedNotification />
          <ConnectionSign strip />
        </header>
      )}
      {(!narrow.value || alone) && <Side alone={alone} />}
      {!alone && <Middle />}
      {drawer && <Drawer />}
      {narrow.value && <Tabs />}
      {elsewhere.value > 0 && view === "session" && !narrow.value && <DrawerToggle open={drawer} />}
      <NotUsed />
      <Announcer />
      {starting.value && <Starting />}
      {showKeys.value && (
        <Later quiet load={() => import("./KeyList")}>
          {({ KeyList }) => <KeyList close={() => (showKeys.value = false)} />}
        </Later>
      )}
      {drafting.value && <Drafting ask={drafting.value} />}
      {searching.value && <Searching wanted={searching.value} />}
    </div>
  );
}

/** Past the list of sessions, to what the page is about. */
function skip(): void {
  document.querySelector("main")?.focus();
}

function DrawerToggle({ open }: { open: boolean }) {
  const label = open ? t("page.inbox.hide") : t("page.inbox.show");
  return (
    <button type="button" class="drawer-toggle quiet square" aria-expanded={open} aria-label={label} title={label} onClick={() => (drawerHidden.value = open)}>
      <Icon name={open ? "right" : "inbox"} />
      {!open && <span class="badge">{elsewhere.value}</span>}
    </button>
  );
}

function Middle() {
  const here = place.value;
  switch (here.view) {
    case "session":
      return <Chat id={here.id} />;
    case "admin":
      return <Admin page={here.page} />;
    case "sessions":
    case "inbox":
      return <Inbox />;
  }
}

function Side({ alone }: { alone: boolean }) {
  const Frame = alone ? "main" : "aside";
  return (
    <Frame class="side" aria-label={t("page.name")}>
      {alone && <h1 class="unseen">{t("page.sessions.title")}</h1>}
      <header class="brand">
        <a data-inside href="/" class="brand-name">
          <Icon name="hand" />
          {t("page.name")}
        </a>
        <button type="button" class="quiet" aria-label={t("page.nav.new_session")} title={t("page.nav.new_session")} disabled={!may("admin")} onClick={() => (starting.value = true)}>
          <Icon name="plus" />
        </button>
      </header>
      <a data-inside href="/" class="side-inbox" aria-current={place.value.view === "inbox" ? "page" : undefined}>
        <Icon name="inbox" />
        {t("page.nav.inbox")}
        {waiting.value > 0 && <span class="badge">{waiting.value}</span>}
      </a>
      <SessionsList />
      {!alone && <HubTrouble />}
      {!alone && <NeverAsks />}
      {!alone && <NoSandbox />}
      {!alone && <UnsafeClaude />}
      {!alone && <TelegramTrouble />}
      {!alone && <FailedNotification />}
      <footer class="side-foot">
        <ConnectionSign />
        <span class="spring" />
        <button type="button" class="quiet wide-only" aria-label={t("page.nav.keyboard")} title={`${t("page.nav.keyboard")} (?)`} onClick={() => (showKeys.value = true)}>
          <Icon name="key" />
        </button>
        <a data-inside href="/admin/projects" class="quiet-link" aria-label={t("page.nav.admin")} title={t("page.nav.admin")}>
          <Icon name="gear" />
        </a>
      </footer>
    </Frame>
  );
}

function Tabs() {
  const here = place.value;
  const last = lastSession.value;
  const chat = last !== null && !removed.value.has(last) ? last : null;
  return (
    <nav class="tabs" aria-label={t("page.name")}>
      <Tab href="/" icon="inbox" text={t("page.nav.inbox")} here={here.view === "inbox"} badge={waiting.value} />
      <Tab href="/sessions" icon="sessions" text={t("page.nav.sessions")} here={here.view === "sessions" || here.view === "admin"} />
      <Tab href={chat ? pathOf({ view: "session", id: chat }) : "/sessions"} icon="chat" text={t("page.nav.chat")} here={here.view === "session"} />
    </nav>
  );
}

function Tab({ href, icon, text, here, badge = 0 }: { href: string; icon: IconName; text: string; here: boolean; badge?: number }) {
  return (
    <a data-inside href={href} aria-current={here ? "page" : undefined}>
      <span class="tab-icon">
        <Icon name={icon} />
        {badge > 0 && <span class="badge">{badge}</span>}
      </span>
      {text}
    </a>
  );
}
