/** A permission: the change or the command first, then once, for longer in spelled-out words, edited, or no and why. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Allow, AskOf } from "../feed/model";
import { Machine, Unfolds } from "../parts/Folded";
import { Diff } from "../parts/Diff";
import { Quoted } from "../parts/Quoted";
import { useDraft } from "../store/drafts";
import { hasHidden, reveal } from "../text/reveal";
import { texts as t } from "../texts";
import type { Acting } from "./Card";
import { EditInput } from "./EditInput";
import { useKeys } from "./keys";
import { isWhole, nearby, permissionSentence } from "./sentence";

type Doing = "deciding" | "denying" | "editing";

export function PermissionCard({ ask, act, disabled, directory, all }: Acting & { ask: AskOf<"permission"> }) {
  const { body } = ask;
  const doing = useSignal<Doing>("deciding");
  const [reason, setReason] = useDraft(`${ask.id}.reason`, "");
  const reasonField = useRef<HTMLTextAreaElement>(null);
  const allow = (how: Partial<Allow> = {}) => act({ allow: true, for: "once", ...how });
  const deny = (interrupt: boolean) => act({ allow: false, message: reason.trim(), interrupt });
  const beginDenying = () => {
    doing.value = "denying";
    requestAnimationFrame(() => reasonField.current?.focus());
  };
  // What is allowed for longer is spelled out for this ask, and not for the others.
  const offered = (lasting: "session" | "always") => !all && body.offers.some((offer) => offer.for === lasting);

  useKeys(ask.id, (key) => {
    if (disabled || doing.value !== "deciding") return false;
    if (key === "a") allow();
    else if (key === "s" && offered("session")) allow({ for: "session" });
    else if (key === "w" && offered("always")) allow({ for: "always" });
    else if (key === "d") beginDenying();
    else if (key === "e") doing.value = "editing";
    else return false;
    return true;
  });

  return (
    <>
      <Evidence ask={ask} directory={directory} />
      {doing.value === "editing" && <EditInput ask={ask} send={(input) => allow({ input })} leave={() => (doing.value = "deciding")} disabled={disabled} all={all} />}
      {doing.value === "denying" && (
        <form
          class="controls column"
          onSubmit={(event) => {
            event.preventDefault();
            deny(false);
          }}
        >
          <textarea
            ref={reasonField}
            rows={2}
            aria-label={t.permission.reason}
            placeholder={t.permission.reason}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) {
                event.preventDefault();
                deny(false);
              } else if (event.key === "Escape") doing.value = "deciding";
            }}
          />
          <div class="row-of-buttons">
            <button type="submit" class="danger" disabled={disabled}>
              {t.permission.denySend + t.inbox.all(all)} <kbd aria-hidden="true">Enter</kbd>
            </button>
            <button type="button" class="danger quiet" disabled={disabled} onClick={() => deny(true)}>
              {t.permission.denyStop + t.inbox.all(all)}
            </button>
            <button type="button" class="quiet" onClick={() => (doing.value = "deciding")}>
              {t.cancel}
            </button>
          </div>
        </form>
      )}
      {doing.value === "deciding" && (
        <>
          <div class="controls">
            <button type="button" class="primary" disabled={disabled} onClick={() => allow()}>
              {t.permission.allow + t.inbox.all(all)} <kbd aria-hidden="true">a</kbd>
            </button>
            <button type="button" class="danger" disabled={disabled} onClick={beginDenying}>
              {t.permission.deny + t.inbox.all(all)} <kbd aria-hidden="true">d</kbd>
            </button>
            <button type="button" disabled={disabled} onClick={() => (doing.value = "editing")}>
              {t.permission.edit_} <kbd aria-hidden="true">e</kbd>
            </button>
          </div>
          {!all && <Longer ask={ask} disabled={disabled} allow={allow} />}
        </>
      )}
    </>
  );
}

/** What could be allowed beyond this once, each with its scope in words. */
function Longer({ ask, disabled, allow }: { ask: AskOf<"permission">; disabled: boolean; allow: (how: Partial<Allow>) => void }) {
  const { offers, suggestions_in_words: suggested } = ask.body;
  if (!offers.length && !suggested.length) return null;
  return (
    <div class="longer">
      {offers.map((offer) => (
        <button key={offer.for} type="button" class="offer" disabled={disabled} onClick={() => allow({ for: offer.for })}>
          <span>
            <Quoted text={reveal(offer.scope)} />
          </span>
          <kbd aria-hidden="true">{offer.for === "session" ? "s" : "w"}</kbd>
        </button>
      ))}
      {suggested.length > 0 && (
        <Unfolds title={`${t.permission.suggested} (${suggested.length})`}>
          {() =>
            suggested.map((words, index) => (
              <button key={index} type="button" class="offer" disabled={disabled} onClick={() => allow({ suggestions: [index] })}>
                <span>
                  <Quoted text={reveal(words)} />
                </span>
              </button>
            ))
          }
        </Unfolds>
      )}
    </div>
  );
}

function Evidence({ ask, directory }: { ask: AskOf<"permission">; directory: string | null }) {
  const { body } = ask;
  const whole = JSON.stringify(body.input, null, 2);
  const command = typeof body.input["command"] === "string" ? body.input["command"] : null;
  const path = body.input["file_path"] ?? body.input["notebook_path"];
  const known = body.diff !== null || command !== null || Object.keys(body.input).length === 0;
  return (
    <div class="evidence">
      {body.description && !isRepeated(body) && <p class="says">{reveal(body.description)}</p>}
      {body.blocked_path && <p class="note"><Quoted text={t.permission.blocked(reveal(body.blocked_path))} /></p>}
      {body.diff !== null && <Diff diff={body.diff} note={body.diff_note} path={nearby(typeof path === "string" ? path : body.tool, directory)} />}
      {command !== null && !isWhole(body) && <Machine text={command} label={t.permission.runLong} />}
      {!known && <Fields input={body.input} />}
      {hasHidden(whole) && <p class="note hidden-note">{t.card.hidden}</p>}
      <Unfolds title={t.card.whole}>{() => <Machine text={whole} most={40} label={t.card.whole} />}</Unfolds>
    </div>
  );
}

/** Claude often describes a change by the name of its file, which the sentence has said. */
function isRepeated(body: AskOf<"permission">["body"]): boolean {
  return permissionSentence(body, null).includes(body.description);
}

/** An input that we have no better picture of: its fields, each whole. */
function Fields({ input }: { input: Record<string, unknown> }) {
  return (
    <dl class="fields">
      {Object.entries(input).map(([name, value]) => (
        <div key={name}>
          <dt>{reveal(name)}</dt>
          <dd>
            <Machine text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} most={8} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
