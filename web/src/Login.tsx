/** Signing in, when the hub doesn't know this browser. Cards and drafts stay where they are, and continue afterwards. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Alert } from "./parts/Alert";
import { Field, SubmitForm, TextField } from "./parts/Form";
import { Icon } from "./parts/Icons";
import { Quoted } from "./parts/Quoted";
import { standing } from "./store/desk";
import { explainError, post } from "./store/http";
import { useLoginLanguage } from "./store/language";
import { sending } from "./store/sending";
import { begin } from "./store/stream";
import { t } from "./texts";

export function LoginPage() {
  const secret = useSignal("");
  const trouble = useSignal<string | null>(location.pathname === "/login" && location.search.includes("code=") ? t("page.login.expired") : null);
  const queued = [...sending.value.values()].filter((each) => each.state === "queued").length;
  useEffect(() => void useLoginLanguage().catch(() => undefined), []);
  const submit = async () => {
    trouble.value = null;
    await login(secret.value.trim()).catch((error) => (trouble.value = explainError(error)));
  };
  return (
    <main class="login">
      <SubmitForm class="stack" submit={submit}>
        <span class="big-icon needs">
          <Icon name="hand" />
        </span>
        <h1>{t("page.login.title")}</h1>
        <p>
          <Quoted text={t("page.login.hint")} />
        </p>
        <Field label={t("page.login.field")}>
          <TextField type="password" class="mono" autocomplete="current-password" required autofocus value={secret.value} change={(text) => (secret.value = text)} />
        </Field>
        <Alert text={trouble.value} />
        {queued > 0 && <p class="note">{t("page.login.queued", { count: queued })}</p>}
        <button type="submit" class="primary">
          {t("page.login.button")}
        </button>
      </SubmitForm>
    </main>
  );
}

async function login(secret: string): Promise<void> {
  await post("/api/login", { secret });
  standing.value = "loading";
  if (location.pathname === "/login") history.replaceState(null, "", "/");
  await begin();
}
