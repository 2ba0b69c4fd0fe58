/** A tool's input, edited before it is allowed: its text if it has one, otherwise its JSON. Changes are shown before it is sent. */
import { useMemo } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { SubmitForm } from "../parts/Form";
import { Diff } from "../parts/Diff";
import { Rewrite } from "../parts/Rewrite";
import { useDraft } from "../store/drafts";
import { compareTexts, onlyChanges } from "../text/diff";
import { fromField, toField } from "../text/editing";
import { t } from "../texts";

export interface Edited {
  /** The field that is edited as text; null: all of it, as JSON. */
  key: string | null;
  before: string;
  after: string;
  field: string;
  change: (field: string) => void;
  /** The edited input; null if it can't be parsed. */
  input: Record<string, unknown> | null;
}

/** `whole`: whether nothing of the input is cut. An excerpt is never edited or sent. */
export function useEdit(ask: AskOf<"permission">, whole: boolean): Edited {
  const { input } = ask.body;
  const named = ask.card.traits?.editable || null;
  const text = named === null ? undefined : input[named];
  const key = typeof text === "string" ? named : null;
  const before = useMemo(() => (typeof text === "string" ? text : JSON.stringify(input, null, 2)), [text, input]);
  const initial = useMemo(() => toField(before), [before]);
  const [field, change] = useDraft(`${ask.id}.edit`, initial);
  const after = useMemo(() => fromField(field, before), [field, before]);
  const edited = key === null ? readObject(after) : { ...input, [key]: after };
  return { key, before, after, field, change, input: whole ? edited : null };
}

interface EditInputProps {
  ask: AskOf<"permission">;
  edit: Edited;
  reviewing: boolean;
  review: () => void;
  leave: () => void;
}

export function EditForm({ ask, edit, reviewing, review, leave }: EditInputProps) {
  const what = edit.key ?? ask.body.tool;
  if (reviewing) return <Changes before={edit.before} after={edit.after} what={what} />;
  const submit = () => edit.input && review();
  return (
    <SubmitForm class="controls column" data-own submit={submit}>
      <Rewrite label={t("page.card.edit_input", { name: what })} field={edit.field} change={edit.change} before={edit.before} done={submit} leave={leave} />
      {edit.input === null && <p class="note trouble">{t("page.card.invalid_json")}</p>}
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={edit.input === null}>
          {t("page.card.review_changes")} <kbd aria-hidden="true">Ctrl Enter</kbd>
        </button>
        <button type="button" class="quiet" onClick={leave}>
          {t("page.cancel")}
        </button>
      </div>
    </SubmitForm>
  );
}

/** The original against the edit. */
export function Changes({ before, after, what }: { before: string; after: string; what: string }) {
  const rows = useMemo(
    () => (before === after ? [] : onlyChanges(compareTexts(...withoutEndings(before, after), before.endsWith("\n") !== after.endsWith("\n")), (count) => t("page.card.unchanged", { count }))),
    [before, after],
  );
  return (
    <section class="changes">
      <h3 class="quiet-text">{before === after ? t("page.card.no_changes") : t("page.card.your_changes")}</h3>
      {rows.length > 0 && <Diff evidence diff={rows} path={what} />}
    </section>
  );
}

/** If every line ends the same way before and after, line endings need not be shown. */
function withoutEndings(before: string, after: string): [string, string] {
  const alike = [before, after].every((text) => !/(^|[^\r])\n/.test(text));
  return alike ? [before.replaceAll("\r\n", "\n"), after.replaceAll("\r\n", "\n")] : [before, after];
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
