/** What to decide an ask by, complete and in the hub's order: the change, the command, every other field of the input. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FetchPart } from "../diff/source";
import type { Ask, AskOf, Evidence } from "../feed/model";
import { Diff } from "../parts/Diff";
import { Machine, Unfolds } from "../parts/Folded";
import { Dangers } from "../parts/DangerMark";
import { Quoted } from "../parts/Quoted";
import { fetchWhole, partsOf, wholeOf } from "../store/wholes";
import { fileOf, nearby } from "../text/paths";
import { t } from "../texts";

/** Fields up to this length share a line. */
const SHORT = 60;

/** The evidence of a permission, and its whole input for those who want to be sure. */
export function EvidenceList({ ask, directory }: { ask: AskOf<"permission">; directory: string | null }) {
  const { headline, evidence, traits } = ask.card;
  const path = nearby(fileOf(traits, ask.body.input) || ask.body.tool, directory);
  return (
    <div class="evidence">
      {evidence
        .filter((each) => !isRepeated(each, headline))
        .map((each, at) => (
          <Exhibit key={at} evidence={each} path={path} rest={restOf(ask, each)} />
        ))}
      <Unfolds title={t("page.card.full_input")}>{() => <FullInput ask={ask} />}</Unfolds>
    </div>
  );
}

/** Where the rest of a diff comes from, if this is only its beginning. */
export function restOf(ask: Ask, evidence: Evidence): DiffRest | undefined {
  if (!ask.cut || evidence.kind !== "diff") return undefined;
  const number = ask.card.evidence.indexOf(evidence);
  return { name: `${ask.id} ${ask.digest} ${number}`, fetch: partsOf(ask, number) };
}

export interface DiffRest {
  name: string;
  fetch: FetchPart;
}

function FullInput({ ask }: { ask: AskOf<"permission"> }) {
  const failed = useSignal(false);
  const whole = wholeOf(ask);
  useEffect(() => {
    if (!whole) fetchWhole(ask).catch(() => (failed.value = true));
  }, []);
  const text = useMemo(() => whole && JSON.stringify(whole.body.input, null, 2), [whole?.body]);
  if (text === undefined) return <p class="note">{failed.value ? t("page.diff.not_loaded") : t("page.loading")}</p>;
  return <Machine text={text} most={40} label={t("page.card.full_input")} />;
}

/** A short command stands in the headline already. */
function isRepeated({ kind, text }: Evidence, headline: string): boolean {
  return kind === "command" && headline.includes(`\`${text}\``);
}

/** One piece of evidence. `path` names the file of a change. */
export function Exhibit({ evidence: { kind, text, label, facts }, path = "", rest }: { evidence: Evidence; path?: string; rest?: DiffRest | undefined }) {
  switch (kind) {
    case "diff":
      return <Diff evidence diff={text} facts={facts} path={path} {...rest} />;
    case "command":
      return <Machine evidence text={text} label={label || t("page.card.command")} />;
    case "input":
      return <Input text={text} label={label} />;
    case "piece":
    case "plan":
      return <Piece text={text} label={label} />;
    case "danger":
      return <Dangers sentences={[text]} />;
    case "note":
    case "warning":
      return (
        <p class={kind === "warning" ? "note warning" : "says"} data-evidence>
          {label && `${label}: `}
          <Quoted text={text} />
        </p>
      );
  }
}

function Piece({ text, label }: { text: string; label: string }) {
  return (
    <section class="piece">
      {label && (
        <h3>
          <Quoted text={label} />
        </h3>
      )}
      {text && <Machine evidence text={text} label={label.replaceAll("`", "")} />}
    </section>
  );
}

/** The fields of a tool's input; as JSON if they can't be parsed. */
function Input({ text, label }: { text: string; label: string }) {
  const fields = useMemo(() => readFields(text), [text]);
  return fields ? <Fields fields={fields} /> : <Machine evidence text={text} label={label || t("page.card.full_input")} />;
}

function readFields(text: string): [string, string][] | null {
  try {
    return Object.entries(JSON.parse(text) as object).map(([name, value]) => [name, typeof value === "string" ? value : inJson(value)]);
  } catch {
    return null;
  }
}

function inJson(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length <= SHORT ? line : JSON.stringify(value, null, 2);
}

/** Short ones share a line, the others stand alone and complete. */
function Fields({ fields }: { fields: [string, string][] }) {
  const short = fields.filter(([, text]) => isShort(text));
  const long = fields.filter(([, text]) => !isShort(text));
  return (
    <>
      {short.length > 0 && (
        <dl class="short-fields" data-evidence>
          {short.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{text}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {long.length > 0 && (
        <dl class="fields">
          {long.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
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
