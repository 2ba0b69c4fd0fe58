/** A tool's input, changed before it is allowed: its text where it has one, its JSON otherwise. */
import { useEffect, useRef } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { useDraft } from "../store/drafts";
import { texts as t } from "../texts";

const TEXTS: Record<string, string> = { Bash: "command", Write: "content", Edit: "new_string", NotebookEdit: "new_source", WebFetch: "url", WebSearch: "query" };

interface Props {
  ask: AskOf<"permission">;
  send: (input: Record<string, unknown>) => void;
  leave: () => void;
  disabled: boolean;
  all: number;
}

export function EditInput({ ask, send, leave, disabled, all }: Props) {
  const { input, tool } = ask.body;
  const key = TEXTS[tool];
  const before = key !== undefined && typeof input[key] === "string" ? input[key] : JSON.stringify(input, null, 2);
  const asText = key !== undefined && typeof input[key] === "string";
  const [draft, setDraft] = useDraft(`${ask.id}.edit`, before);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const edited = asText ? { ...input, [key]: draft } : readObject(draft);
  const submit = () => edited && send(edited);
  return (
    <form
      class="controls column"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="field">
        <span>{t.permission.editLabel(asText ? key : tool)}</span>
        <textarea
          ref={field}
          class="mono"
          spellcheck={false}
          rows={Math.min(18, Math.max(3, draft.split("\n").length + 1))}
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") leave();
            else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
          }}
        />
      </label>
      {edited === null && <p class="note trouble">{t.permission.badJson}</p>}
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={disabled || edited === null}>
          {t.permission.editSend + t.inbox.all(all)} <kbd aria-hidden="true">Ctrl Enter</kbd>
        </button>
        <button type="button" class="quiet" onClick={leave}>
          {t.cancel}
        </button>
      </div>
    </form>
  );
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
