/** A rule made from an ask: drafted, put in words, created. The ask itself is answered separately. */
import { useSignal } from "@preact/signals";
import type { Ask } from "../feed/model";
import { Dialog } from "../parts/Dialog";
import { projects, sessionOf } from "../store/desk";
import { explainError, post } from "../store/http";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { draftOf, toRules, type RuleDraft } from "./draft";
import { RuleForm } from "./RuleForm";

export default function RuleDialog({ ask, close }: { ask: Ask; close: () => void }) {
  const trouble = useSignal<string | null>(null);
  const made = useSignal(0);
  const session = sessionOf(ask.session);
  const make = async (draft: RuleDraft) => {
    trouble.value = null;
    const rules = toRules(draft, Date.now());
    try {
      for (const rule of rules.slice(made.value)) {
        await post("/api/rules", rule);
        made.value += 1;
      }
      close();
      return true;
    } catch (error) {
      trouble.value = (made.value ? `${t("admin.rules.partly", { made: made.value, total: rules.length })} ` : "") + explainError(error);
      return false;
    }
  };
  const offers = ask.kind === "permission" && ask.body.offers.length > 0;
  return (
    <Dialog title={t("admin.rules.new")} close={close}>
      {!offers && <p class="note warning">{t("admin.rules.unsafe")}</p>}
      <RuleForm first={draftOf(ask, session, projects.value)} session={session && { id: session.id, title: session.title }} make={make} />
      {trouble.value && (
        <p class="note trouble" role="alert">
          {reveal(trouble.value)}
        </p>
      )}
      <p class="note">{t("admin.rules.next")}</p>
    </Dialog>
  );
}
