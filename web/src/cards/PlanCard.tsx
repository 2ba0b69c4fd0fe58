/** A plan: its Markdown, and the four ways to go on from it. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { Markdown } from "../parts/Markdown";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import type { Acting } from "./Card";
import { useKeys } from "./keys";

type Doing = "deciding" | "revising" | "editing";

export function PlanCard({ ask, act, disabled, all }: Acting & { ask: AskOf<"plan"> }) {
  const doing = useSignal<Doing>("deciding");
  const [plan, setPlan] = useDraft(`${ask.id}.plan`, ask.body.plan);
  const [feedback, setFeedback] = useDraft(`${ask.id}.feedback`, "");
  const field = useRef<HTMLTextAreaElement>(null);
  const edited = plan !== ask.body.plan && plan.trim() !== "";
  const approve = (mode: "default" | "acceptEdits") => act({ approve: true, mode, ...(edited ? { plan } : {}) });
  const sendBack = () => act({ approve: false, message: feedback.trim() });
  const begin = (what: Doing) => {
    doing.value = what;
    requestAnimationFrame(() => field.current?.focus());
  };

  useKeys(ask.id, (key) => {
    if (disabled || doing.value !== "deciding") return false;
    if (key === "a") approve("default");
    else if (key === "y") approve("acceptEdits");
    else if (key === "d") begin("revising");
    else if (key === "e") begin("editing");
    else if (key === "p") act({ outline: true });
    else return false;
    return true;
  });

  return (
    <>
      {doing.value === "editing" ? (
        <label class="field">
          <span>{t.plan.editLabel}</span>
          <textarea
            ref={field}
            class="mono"
            rows={Math.min(24, plan.split("\n").length + 2)}
            value={plan}
            onInput={(event) => setPlan(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") doing.value = "deciding";
            }}
          />
        </label>
      ) : (
        <div class="plan-text" tabIndex={0} role="region" aria-label={t.card.kinds.plan}>
          <Markdown text={reveal(edited ? plan : ask.body.plan)} strict />
        </div>
      )}
      {edited && (
        <p class="note">
          {t.plan.edited}{" "}
          <button type="button" class="quiet" onClick={() => setPlan(ask.body.plan)}>
            {t.plan.undo}
          </button>
        </p>
      )}
      {doing.value === "revising" ? (
        <form
          class="controls column"
          onSubmit={(event) => {
            event.preventDefault();
            sendBack();
          }}
        >
          <textarea
            ref={field}
            rows={3}
            aria-label={t.plan.feedback}
            placeholder={t.plan.feedback}
            value={feedback}
            onInput={(event) => setFeedback(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) {
                event.preventDefault();
                sendBack();
              } else if (event.key === "Escape") doing.value = "deciding";
            }}
          />
          <div class="row-of-buttons">
            <button type="submit" class="primary" disabled={disabled || !feedback.trim()}>
              {t.plan.sendBack + t.inbox.all(all)} <kbd aria-hidden="true">Enter</kbd>
            </button>
            <button type="button" class="quiet" onClick={() => (doing.value = "deciding")}>
              {t.cancel}
            </button>
          </div>
        </form>
      ) : (
        <div class="controls">
          <button type="button" class="primary" disabled={disabled} onClick={() => approve("default")}>
            {t.plan.ask + t.inbox.all(all)} <kbd aria-hidden="true">a</kbd>
          </button>
          <button type="button" disabled={disabled} onClick={() => approve("acceptEdits")}>
            {t.plan.accept + t.inbox.all(all)} <kbd aria-hidden="true">y</kbd>
          </button>
          <button type="button" disabled={disabled} onClick={() => begin("revising")}>
            {t.plan.revise} <kbd aria-hidden="true">d</kbd>
          </button>
          <button type="button" disabled={disabled} onClick={() => act({ outline: true })}>
            {t.plan.outline + t.inbox.all(all)} <kbd aria-hidden="true">p</kbd>
          </button>
          <button type="button" disabled={disabled} onClick={() => (doing.value === "editing" ? (doing.value = "deciding") : begin("editing"))}>
            {doing.value === "editing" ? t.close : t.plan.edit} <kbd aria-hidden="true">e</kbd>
          </button>
        </div>
      )}
    </>
  );
}
