/** What the hub tells, by our words. Shapes come from the API's own document; only unions are put together here. */
import type * as api from "../generated/api";

export type Session = api.Session;
export type Project = api.Project;
export type Rule = api.Rule;
export type Actor = api.FeedPerson | api.FeedByRule | api.FeedTheHub;
export type Question = api.FeedQuestion;
export type Prompt = api.FeedPrompt;
export type Option = api.FeedOption;
export type Permission = api.FeedPermission;
export type Plan = api.FeedPlan;
export type Form = api.FeedForm;
export type Preview = api.FeedPartial;

export type Choice = { labels: string[]; text: string | null };
export type Choices = { answers: Choice[] };
export type Allow = { allow: true; for: "once" | "session" | "always"; input?: Record<string, unknown>; suggestions?: number[] };
export type Deny = { allow: false; message: string; interrupt: boolean };
export type Approve = { approve: true; mode: "default" | "acceptEdits"; plan?: string };
export type Revise = { approve: false; message: string };
export type Outline = { outline: true };
export type Filled = { action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> };
export type Answer = Choices | Allow | Deny | Approve | Revise | Outline | Filled;

export type Answered = { state: "answered"; answer: Answer; by: Actor; from: string; at: string };
export type Expired = { state: "expired"; at: string; late: Answered | null };
export type Withdrawn = { state: "withdrawn"; reason: string; at: string };
export type Settlement = Answered | Expired | Withdrawn;

type Kinds =
  | { kind: "question"; body: Question }
  | { kind: "permission"; body: Permission }
  | { kind: "plan"; body: Plan }
  | { kind: "form"; body: Form };

export type Ask = Omit<api.Ask, "kind" | "body" | "settlement"> & Kinds & { settlement: Settlement | null };
export type AskOf<K extends Ask["kind"]> = Extract<Ask, { kind: K }>;

export type Content =
  | api.FeedSessionStarted
  | api.FeedSessionChanged
  | api.FeedTurnStarted
  | api.FeedTurnEnded
  | api.FeedSaid
  | api.FeedSaidTaken
  | api.FeedText
  | api.FeedThinking
  | api.FeedActionStarted
  | api.FeedActionEnded
  | (Omit<api.FeedAskOpened, "ask"> & { ask: Ask })
  | (Omit<api.FeedAskSettled, "settlement"> & { settlement: Settlement })
  | api.FeedAskDelivered
  | api.FeedNotice
  | api.FeedSessionEnded
  | api.FeedFrame;

export type Item = Content & { cursor: number; session: string | null; at: string };
export type ItemOf<T extends Content["type"]> = Extract<Item, { type: T }>;
