/** The options of one prompt as rows, with numbers, descriptions and previews, and a row for free text. */
import type { ComponentChildren, RefObject } from "preact";
import type { Prompt } from "../feed/model";
import { Machine } from "../parts/Folded";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import type { PromptAnswer } from "./choices";

interface OptionListProps {
  name: string;
  prompt: Prompt;
  answer: PromptAnswer;
  disabled: boolean;
  /** `pointed`: with a click, not with arrows that pass over one after the other. */
  pick: (label: string, pointed: boolean) => void;
  openOther: () => void;
  write: (text: string) => void;
  text: RefObject<HTMLTextAreaElement | null>;
  /** The question is already shown above. */
  quiet: boolean;
}

export function OptionList(props: OptionListProps) {
  const { prompt, answer, disabled, quiet } = props;
  const previewed = prompt.options.find((option) => option.preview && answer.labels.includes(option.label)) ?? prompt.options.find((option) => option.preview);
  return (
    <fieldset class="options" disabled={disabled} data-evidence>
      <legend class={quiet ? "unseen" : "asked"}>{reveal(prompt.question)}</legend>
      {prompt.multi_select && <p class="quiet-text">{t("page.card.question.several")}</p>}
      <div class={previewed ? "with-preview" : ""}>
        <Rows {...props} />
        {previewed?.preview && (
          <div class="preview">
            <p class="quiet-text">{t("page.card.question.preview", { label: reveal(previewed.label) })}</p>
            <Machine text={previewed.preview} />
          </div>
        )}
      </div>
      <OwnText {...props} />
    </fieldset>
  );
}

function Rows({ name, prompt, answer, pick, openOther }: OptionListProps) {
  const type = prompt.multi_select ? "checkbox" : "radio";
  const isChosen = (label: string) => answer.labels.includes(label) && (prompt.multi_select || !answer.other);
  return (
    <div class="rows">
      {prompt.options.map((option, index) => (
        <OptionRow
          key={index}
          control={String(index + 1)}
          shown={index < 9}
          label={reveal(option.label)}
          description={reveal(option.description)}
          input={<input type={type} name={name} checked={isChosen(option.label)} onClick={(event) => pick(option.label, event.detail > 0)} />}
        />
      ))}
      {prompt.options.length > 0 && !prompt.closed && (
        <label class="row">
          <input type={type} name={name} checked={answer.other} onClick={openOther} />
          <span class="row-text">
            <strong>{t("card.choice.question.free_text")}</strong>
          </span>
          <kbd aria-hidden="true">0</kbd>
        </label>
      )}
    </div>
  );
}

function OptionRow({ control, shown, label, description, input }: { control: string; shown: boolean; label: string; description: string; input: ComponentChildren }) {
  return (
    <label class="row" data-control={control}>
      {input}
      <span class="row-text">
        <strong>{label}</strong>
        {description && <span class="quiet-text">{description}</span>}
      </span>
      {shown && <kbd aria-hidden="true">{control}</kbd>}
    </label>
  );
}

function OwnText({ prompt, answer, write, text }: OptionListProps) {
  const free = prompt.options.length === 0;
  if (!free && !answer.other) return null;
  const label = free ? t("page.card.question.answer_label") : t("page.card.question.own_label");
  return <textarea ref={text} rows={2} aria-label={label} placeholder={label} value={answer.text} onInput={(event) => write(event.currentTarget.value)} />;
}
