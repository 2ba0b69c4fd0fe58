/** One step of an escalation, while it is edited: when, and whom. */
import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Field, TextField } from "../../parts/Form";
import { Icon } from "../../parts/Icons";
import { t } from "../../texts";
import { keyOf, MOST_TARGETS, moved, type StepDraft, type StepErrors, type Target } from "./chain";
import type { Reach } from "./reading";
import { targetName } from "./words";

interface StepProps {
  at: number;
  draft: Signal<StepDraft[]>;
  errors: StepErrors;
  reach: Reach;
}

export function StepEditor({ at, draft, errors, reach }: StepProps) {
  const id = useId();
  const step = draft.value[at];
  if (!step) return null;
  const set = (part: Partial<StepDraft>) => (draft.value = draft.value.map((each, here) => (here === at ? { ...each, ...part } : each)));
  return (
    <li>
      <fieldset class="step" aria-label={t("notifications.escalation.step", { number: at + 1 })}>
        <div class="stacked">
          <Field label={t("notifications.escalation.delay")}>
            <TextField
              value={step.delay}
              title={t("notifications.escalation.delay_hint")}
              aria-invalid={errors.delay !== undefined}
              aria-describedby={errors.delay && `${id}-delay`}
              change={(delay) => set({ delay })}
            />
          </Field>
          {errors.delay && (
            <p id={`${id}-delay`} class="trouble" role="alert">
              {t(`notifications.escalation.${errors.delay}`)}
            </p>
          )}
        </div>
        <Targets at={at} step={step} errors={errors} reach={reach} set={(targets) => set({ targets })} />
        <StepButtons at={at} draft={draft} />
      </fieldset>
    </li>
  );
}

function StepButtons({ at, draft }: { at: number; draft: Signal<StepDraft[]> }) {
  const number = at + 1;
  const move = (by: -1 | 1) => (button: HTMLButtonElement) => {
    draft.value = moved(draft.value, at, by);
    // It moves with its step, and is disabled at either end.
    requestAnimationFrame(() => (button.disabled ? button.parentElement?.querySelector<HTMLElement>("button:enabled") : button)?.focus());
  };
  const remove = (button: HTMLButtonElement) => {
    button.form?.querySelector<HTMLElement>(".add-step")?.focus();
    draft.value = draft.value.filter((_, here) => here !== at);
  };
  return (
    <div class="step-buttons">
      <StepButton icon="up" label={t("notifications.escalation.earlier", { number })} disabled={at === 0} act={move(-1)} />
      <StepButton icon="down" label={t("notifications.escalation.later", { number })} disabled={number === draft.value.length} act={move(1)} />
      <StepButton icon="close" label={t("notifications.escalation.remove_step", { number })} disabled={draft.value.length === 1} act={remove} />
    </div>
  );
}

function StepButton({ icon, label, disabled, act }: { icon: "up" | "down" | "close"; label: string; disabled: boolean; act: (button: HTMLButtonElement) => void }) {
  return (
    <button type="button" class={`quiet square turn-${icon}`} aria-label={label} title={label} disabled={disabled} onClick={(event) => act(event.currentTarget)}>
      <Icon name={icon === "close" ? "close" : "down"} />
    </button>
  );
}

interface TargetsProps {
  at: number;
  step: StepDraft;
  errors: StepErrors;
  reach: Reach;
  set: (targets: Target[]) => void;
}

function Targets({ at, step, errors, reach, set }: TargetsProps) {
  const channels = reach.channels.value.value?.channels ?? [];
  const chosen = new Set(step.targets.map(keyOf));
  const offered = offers(reach).filter((each) => !chosen.has(keyOf(each)));
  const number = at + 1;
  const add = (key: string) => {
    const found = offered.find((each) => keyOf(each) === key);
    if (found) set([...step.targets, found]);
  };
  const remove = (button: HTMLElement, target: Target) => {
    set(step.targets.filter((each) => keyOf(each) !== keyOf(target)));
    // The pressed button is gone.
    button.closest("ul")?.querySelector("select")?.focus();
  };
  return (
    <div class="field">
      <span>{t("notifications.escalation.notify")}</span>
      <ul class="targets">
        {step.targets.map((target) => {
          const name = targetName(target, channels);
          return (
            <li key={keyOf(target)} class="target">
              <span>{name}</span>
              <button type="button" class="quiet small" aria-label={t("notifications.escalation.remove_target", { name, number })} onClick={(event) => remove(event.currentTarget, target)}>
                <Icon name="close" />
              </button>
            </li>
          );
        })}
        {offered.length > 0 && step.targets.length < MOST_TARGETS && (
          <li>
            <select class="add-target" value="" aria-label={t("notifications.escalation.add_target_to", { number })} onChange={(event) => add(event.currentTarget.value)}>
              <option value="">{t("notifications.escalation.add_target")}</option>
              {offered.map((each) => (
                <option key={keyOf(each)} value={keyOf(each)}>
                  {targetName(each, channels)}
                </option>
              ))}
            </select>
          </li>
        )}
      </ul>
      {errors.targets && (
        <p class="trouble" role="alert">
          {t(`notifications.escalation.${errors.targets}`)}
        </p>
      )}
    </div>
  );
}

/** Everything that a step can notify. */
function offers(reach: Reach): Target[] {
  const people = reach.overview.value.value?.people ?? [];
  return [
    { to: "screens" },
    { to: "devices" },
    { to: "telegram" },
    { to: "channels" },
    ...(reach.channels.value.value?.channels ?? []).map(({ id }): Target => ({ to: "channel", channel: id })),
    ...people.map((person): Target => ({ to: "person", person })),
    ...people.map((person): Target => ({ to: "devices", person })),
  ];
}
