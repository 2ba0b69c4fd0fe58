/** The way in when the hub does not know this browser. Cards and drafts stay where they are, and go on after it. */
import { useSignal } from "@preact/signals";
import { Icon } from "./parts/Icons";
import { Quoted } from "./parts/Quoted";
import { standing } from "./store/desk";
import { inWords, post } from "./store/http";
import { sending } from "./store/sending";
import { begin } from "./store/stream";
import { t } from "./texts";

export function Login() {
  const secret = useSignal("");
  const trouble = useSignal<string | null>(location.pathname === "/login" && location.search.includes("code=") ? t("page.login.expired") : null);
  const kept = [...sending.value.values()].filter((each) => each.state === "kept").length;
  const enter = async () => {
    trouble.value = null;
    try {
      await post("/api/login", { secret: secret.value.trim() });
      standing.value = "loading";
      if (location.pathname === "/login") history.replaceState(null, "", "/");
      await begin();
    } catch (error) {
      trouble.value = inWords(error);
    }
  };
  return (
    <main class="login">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <span class="big-icon needs">
          <Icon name="hand" />
        </span>
        <h1>{t("page.login.title")}</h1>
        <p>
          <Quoted text={t("page.login.hint")} />
        </p>
        <label class="field">
          <span>{t("page.login.field")}</span>
          <input type="password" class="mono" autocomplete="current-password" required autofocus value={secret.value} onInput={(event) => (secret.value = event.currentTarget.value)} />
        </label>
        {trouble.value && (
          <p class="note trouble" role="alert">
            {trouble.value}
          </p>
        )}
        {kept > 0 && <p class="note">{t("page.login.queued", { count: kept })}</p>}
        <button type="submit" class="primary">
          {t("page.login.button")}
        </button>
      </form>
    </main>
  );
}
