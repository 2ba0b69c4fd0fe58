/** What a permission is about, whole: the change, the command, and every other field of the input. Nothing is left to be guessed. */
import type { AskOf, Permission } from "../feed/model";
import { Diff } from "../parts/Diff";
import { Machine, Unfolds } from "../parts/Folded";
import { Quoted } from "../parts/Quoted";
import { hasHidden, reveal } from "../text/reveal";
import { t } from "../texts";
import { isWhole, nearby, permissionSentence } from "./sentence";

/** Fields that a diff shows. */
const IN_DIFF = ["file_path", "notebook_path", "content", "old_string", "new_string", "replace_all", "edits", "new_source", "edit_mode"];
/** A field that is no longer than this stands in a line with others. */
const SHORT = 60;

export function Evidence({ ask, directory }: { ask: AskOf<"permission">; directory: string | null }) {
  const { body } = ask;
  const whole = JSON.stringify(body.input, null, 2);
  const command = typeof body.input["command"] === "string" ? body.input["command"] : null;
  const path = body.input["file_path"] ?? body.input["notebook_path"];
  return (
    <div class="evidence">
      {body.description && !isRepeated(body) && (
        <p class="says" data-evidence>
          {reveal(body.description)}
        </p>
      )}
      {body.blocked_path && (
        <p class="note" data-evidence>
          <Quoted text={t("page.card.permission.blocked", { path: reveal(body.blocked_path) })} />
        </p>
      )}
      {body.diff !== null && <Diff evidence diff={body.diff} note={body.diff_note} path={nearby(typeof path === "string" ? path : body.tool, directory)} />}
      {command !== null && !isWhole(body) && <Machine evidence text={command} label={t("page.card.permission.run_long")} />}
      <Fields fields={furtherFields(body)} />
      {hasHidden(whole) && <p class="note hidden-note">{t("page.card.hidden")}</p>}
      <Unfolds title={t("page.card.full_input")}>{() => <Machine text={whole} most={40} label={t("page.card.full_input")} />}</Unfolds>
    </div>
  );
}

/** The fields of the input that neither the sentence nor the diff nor the command shows. */
function furtherFields(body: Permission): [string, unknown][] {
  return Object.entries(body.input).filter(([name, value]) => {
    if (body.diff !== null && IN_DIFF.includes(name)) return false;
    if (name === "command" && typeof value === "string") return false;
    return !(name === "description" && value === body.description);
  });
}

/** Claude often describes a change by the name of its file, which the sentence has said. */
function isRepeated(body: Permission): boolean {
  return permissionSentence(body, null).includes(body.description);
}

/** Short ones in a line, the others each by itself and whole. */
function Fields({ fields }: { fields: [string, unknown][] }) {
  const texts = fields.map(([name, value]): [string, string] => [name, typeof value === "string" ? value : JSON.stringify(value, null, 2)]);
  const [short, long] = [texts.filter(([, text]) => isShort(text)), texts.filter(([, text]) => !isShort(text))];
  return (
    <>
      {short.length > 0 && (
        <dl class="short-fields" data-evidence>
          {short.map(([name, text]) => (
            <div key={name}>
              <dt>{reveal(name)}</dt>
              <dd>
                <code>{reveal(text)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {long.length > 0 && (
        <dl class="fields">
          {long.map(([name, text]) => (
            <div key={name}>
              <dt>{reveal(name)}</dt>
              <dd>
                <Machine evidence text={text} label={name} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function isShort(text: string): boolean {
  return text.length <= SHORT && !text.includes("\n");
}
