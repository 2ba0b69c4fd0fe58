/** The options of one prompt as rows, with their numbers, descriptions and previews, and a row for an answer of one's own. */
import type { RefObject } from "preact";
import type { Prompt } from "../feed/model";
import { Machine } from "../parts/Folded";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import type { PromptAnswer } from "./choices";

interface OptionsProps {
  name: string;
  prompt: Prompt;
  answer: PromptAnswer;
  disabled: boolean;
  /** `pointed`: by a click, and not by arrows that pass over one after the other. */
  pick: (label: string, pointed: boolean) => void;
  openOther: () => void;
  write: (text: string) => void;
  text: RefObject<HTMLTextAreaElement | null>;
  /** The question stands above already. */
  quiet: boolean;
}

export function OptionList({ name, prompt, answer, disabled, pick, openOther, write, text, quiet }: OptionsProps) {
  const kind = prompt.multi_select ? "checkbox" : "radio";
  const previewed = prompt.options.find((option) => option.preview && answer.labels.includes(option.label)) ?? prompt.options.find((option) => option.preview);
  const free = prompt.options.length === 0;
  return (
    <fieldset class="options" disabled={disabled} data-evidence>
      <legend class={quiet ? "unseen" : "asked"}>{reveal(prompt.question)}</legend>
      {prompt.multi_select && <p class="quiet-text">{t("page.card.question.several")}</p>}
      <div class={previewed ? "with-preview" : ""}>
        <div class="rows">
          {prompt.options.map((option, index) => (
            <label key={index} class="row" data-control={String(index + 1)}>
              <input type={kind} name={name} checked={answer.labels.includes(option.label) && (prompt.multi_select || !answer.other)} onClick={(event) => pick(option.label, event.detail > 0)} />
              <span class="row-text">
                <strong>{reveal(option.label)}</strong>
                {option.description && <span class="quiet-text">{reveal(option.description)}</span>}
              </span>
              {index < 9 && <kbd aria-hidden="true">{index + 1}</kbd>}
            </label>
          ))}
          {!free && (
            <label class="row">
              <input type={kind} name={name} checked={answer.other} onClick={openOther} />
              <span class="row-text">
                <strong>{t("page.card.question.own")}</strong>
              </span>
              <kbd aria-hidden="true">0</kbd>
            </label>
          )}
        </div>
        {previewed?.preview && (
          <div class="preview">
            <p class="quiet-text">{t("page.card.question.preview", { label: reveal(previewed.label) })}</p>
            <Machine text={previewed.preview} />
          </div>
        )}
      </div>
      {(free || answer.other) && (
        <textarea
          ref={text}
          rows={2}
          aria-label={free ? t("page.card.question.answer_label") : t("page.card.question.own_label")}
          placeholder={free ? t("page.card.question.answer_label") : t("page.card.question.own_label")}
          value={answer.text}
          onInput={(event) => write(event.currentTarget.value)}
        />
      )}
    </fieldset>
  );
}
