/** The hub's data in our terms. Types come from the API's own document; only the feed's items are assembled here. */
import type * as api from "../generated/api";

export type {
  Allow,
  Answer,
  Answered,
  Ask,
  Card,
  CardChoice,
  CardLink,
  CardOutcome,
  Choices,
  DiffFacts,
  DiffPart,
  Evidence,
  Form,
  Instruction,
  MachineSummary,
  Permission,
  Plan,
  Project,
  Prompt,
  Question,
  Rule,
  Session,
  Settlement,
  ToolTraits,
} from "../generated/api";

export type Actor = api.Person | api.ByRule | api.TheHub;
export type AskOf<K extends api.Ask["kind"]> = Extract<api.Ask, { kind: K }>;
export type Preview = api.FeedPreview;

export type Content =
  | api.FeedSessionStarted
  | api.FeedSessionChanged
  | api.FeedTurnStarted
  | api.FeedTurnEnded
  | api.FeedSaid
  | api.FeedSaidTaken
  | api.FeedSaidWithdrawn
  | api.FeedInstructionGiven
  | api.FeedInstructionSettled
  | api.FeedMachineChanged
  | api.FeedNotificationFailed
  | api.FeedText
  | api.FeedThinking
  | api.FeedActionStarted
  | api.FeedActionChanged
  | api.FeedActionEnded
  | api.FeedActionChecked
  | api.FeedActionDenied
  | api.FeedDenialChanged
  | api.FeedAskOpened
  | api.FeedAskSettled
  | api.FeedAskDelivered
  | api.FeedAskHeld
  | api.FeedNotice
  | api.FeedSessionEnded
  | api.FeedSessionRemoved
  | api.FeedFrame;

export type Item = Content & { cursor: number; session: string | null; at: string };
export type ItemOf<T extends Content["type"]> = Extract<Item, { type: T }>;
