/** The steps of an escalation, for all projects and for single ones. */
import { useSignal, type Signal } from "@preact/signals";
import type { Chain, Channel } from "../../generated/api";
import { Alert } from "../../parts/Alert";
import { Confirm } from "../../parts/Confirm";
import { Field, Select, SubmitForm } from "../../parts/Form";
import { Icon } from "../../parts/Icons";
import { may, projects } from "../../store/desk";
import { ask } from "../../store/http";
import { reveal } from "../../text/reveal";
import { t } from "../../texts";
import { Loading, Trouble } from "../read";
import { draftOf, errorsOf, extended, hasErrors, MOST_STEPS, stepsOf, type StepDraft } from "./chain";
import { BASE, useRunner, type Reach } from "./reading";
import { Saved } from "./Saved";
import { StepEditor } from "./StepEditor";
import { targetName, whenOf } from "./words";

export function Escalation({ reach }: { reach: Reach }) {
  const project = useSignal("");
  // Outlives the form, which is redrawn from what was saved.
  const saved = useSignal("");
  const chains = reach.chains.value.value?.chains;
  const every = chains?.find((each) => each.project === null);
  const own = chains?.find((each) => each.project === project.value);
  return (
    <section class="panel stack" aria-labelledby="escalation-title">
      <div>
        <h2 id="escalation-title">{t("notifications.escalation.title")}</h2>
        <p class="quiet-text">{t("notifications.escalation.hint")}</p>
      </div>
      <Trouble reading={reach.chains} />
      {!every && <Loading reading={reach.chains} />}
      {every && chains && (
        <>
          <Scope project={project} chains={chains} />
          <OneChain key={`${project.value} ${JSON.stringify(own ?? every)}`} project={project.value} every={every} own={project.value ? own : every} reach={reach} saved={saved} />
        </>
      )}
    </section>
  );
}

function Scope({ project, chains }: { project: Signal<string>; chains: readonly Chain[] }) {
  if (!projects.value.length) return null;
  const name = (id: string, plain: string) => (chains.some((each) => each.project === id) ? t("notifications.escalation.own", { name: plain }) : plain);
  return (
    <Field label={t("notifications.escalation.for")}>
      <Select
        value={project.value}
        change={(next) => (project.value = next)}
        options={[["", t("notifications.escalation.all")], ...projects.value.map((each) => [each.id, name(each.id, reveal(each.name))] as const)]}
      />
    </Field>
  );
}

interface OneChainProps {
  /** Empty for all projects. */
  project: string;
  every: Chain;
  /** None: the project uses the steps for all. */
  own: Chain | undefined;
  reach: Reach;
  /** What was saved: the path of a chain. */
  saved: Signal<string>;
}

function OneChain({ project, every, own, reach, saved }: OneChainProps) {
  const overriding = useSignal(false);
  const channels = reach.channels.value.value?.channels ?? [];
  if (!may("admin"))
    return (
      <>
        <Steps chain={own ?? every} channels={channels} />
        <p class="quiet-text">{t("notifications.escalation.read_only")}</p>
      </>
    );
  if (!own && !overriding.value)
    return (
      <>
        <p>{t("notifications.escalation.inherited")}</p>
        <Steps chain={every} channels={channels} />
        <div class="row-of-buttons">
          <button type="button" onClick={() => (overriding.value = true)}>
            {t("notifications.escalation.override")}
          </button>
        </div>
      </>
    );
  return <Editor project={project} chain={own ?? every} isStored={own !== undefined && !own.is_default} reach={reach} saved={saved} />;
}

function Steps({ chain, channels }: { chain: Chain; channels: readonly Channel[] }) {
  return (
    <ol class="steps-read">
      {chain.steps.map((step, at) => (
        <li key={at}>
          <strong>{whenOf(step.after)}</strong>
          <span>{step.targets.map((each) => targetName(each, channels)).join(" · ")}</span>
        </li>
      ))}
    </ol>
  );
}

interface EditorProps {
  project: string;
  chain: Chain;
  isStored: boolean;
  reach: Reach;
  saved: Signal<string>;
}

function Editor({ project, chain, isStored, reach, saved }: EditorProps) {
  const draft = useSignal<StepDraft[]>(draftOf(chain.steps));
  const checked = useSignal(false);
  const { trouble, busy, run } = useRunner(reach.again);
  const path = `${BASE}/chains/${project ? encodeURIComponent(project) : "all"}`;
  const errors = errorsOf(draft.value);
  const save = async () => {
    checked.value = true;
    saved.value = "";
    if (!hasErrors(errors) && (await run(() => ask("PUT", path, { steps: stepsOf(draft.value) })))) saved.value = path;
  };
  const reset = project ? "inherit" : "reset";
  return (
    <SubmitForm class="stack" submit={save} noValidate onInput={() => (saved.value = "")}>
      {chain.is_default && <p class="quiet-text">{t("notifications.escalation.default")}</p>}
      <ol class="steps">
        {draft.value.map((step, at) => (
          <StepEditor key={step.key} at={at} draft={draft} errors={checked.value ? (errors[at] ?? {}) : {}} reach={reach} />
        ))}
      </ol>
      <div class="row-of-buttons">
        <button type="button" class="add-step" disabled={draft.value.length >= MOST_STEPS} onClick={() => (draft.value = extended(draft.value))}>
          <Icon name="plus" /> {t("notifications.escalation.add_step")}
        </button>
      </div>
      <Alert text={trouble.value} />
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={busy.value}>
          {t("page.save")}
        </button>
        {isStored && <Confirm label={t(`notifications.escalation.${reset}`)} really={t(`notifications.escalation.really.${reset}`)} act={() => void run(() => ask("DELETE", path))} />}
        <Saved saved={saved.value === path} />
      </div>
    </SubmitForm>
  );
}
