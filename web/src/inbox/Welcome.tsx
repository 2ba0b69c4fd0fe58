/** The empty page: one button, and three hints that go away for good when they are followed or dismissed. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Hints as HintList } from "../generated/api";
import { starting } from "../sessions/starting";
import { may, me } from "../store/desk";
import { ask, get } from "../store/http";
import { t } from "../texts";

type Hint = HintList["hints"][number];

/** Null until the hub has answered: nothing flashes up that was dismissed. */
const hints = signal<readonly Hint[] | null>(null);

export function FirstSession() {
  if (!may("admin")) return <p class="quiet-text">{t("page.welcome.ask_admin")}</p>;
  return (
    <>
      <p class="quiet-text">{t("page.welcome.lead")}</p>
      <button type="button" class="primary" onClick={() => (starting.value = true)}>
        {t("page.welcome.button")}
      </button>
    </>
  );
}

export function Hints() {
  const name = me.value?.name;
  useEffect(() => {
    if (!name) return;
    void get<HintList>("/api/hints").then(
      (found) => (hints.value = found.hints),
      () => undefined,
    );
  }, [name]);
  if (!hints.value?.length) return null;
  return (
    <ul class="hints">
      {hints.value.map((hint) => (
        <li key={hint} class="quiet-text hook-offer">
          <span>
            <HintText hint={hint} />
          </span>
          <button type="button" class="quiet" onClick={() => dismiss(hint)}>
            {t("page.welcome.dismiss")}
          </button>
        </li>
      ))}
    </ul>
  );
}

function HintText({ hint }: { hint: Hint }) {
  switch (hint) {
    case "terminal":
      return (
        <>
          {t("page.inbox.hook_offer")} <code>handraise project sync</code>
        </>
      );
    case "phone":
      return (
        <>
          {t("page.welcome.phone")}{" "}
          <a data-inside href={may("admin") ? "/admin/tokens" : "/admin/settings"}>
            {t("page.welcome.phone_link")}
          </a>
        </>
      );
    case "telegram":
      return (
        <>
          {t("page.welcome.telegram")} <code>handraise telegram setup</code>
        </>
      );
  }
}

/** If the hub can't be reached, it comes back with the next page. */
function dismiss(hint: Hint): void {
  hints.value = hints.value?.filter((each) => each !== hint) ?? null;
  void ask("DELETE", `/api/hints/${hint}`).catch(() => undefined);
}
