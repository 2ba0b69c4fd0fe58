/** A channel while it is typed, and as the hub expects it. Pure. */
import type { Channel, ChannelChange, ChannelField, ChannelKind, NewChannel } from "../../generated/api";

export interface ChannelDraft {
  kind: ChannelKind["kind"];
  name: string;
  fields: Record<string, string>;
  withContent: boolean;
  shared: boolean;
}

const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";
const TOPIC_LENGTH = 16;

/** Of a channel, or for a new one of a kind; what was typed for another kind stays, as far as it fits. */
export function draftOf(channel: Channel | null, kinds: readonly ChannelKind[], kind: ChannelKind["kind"] = kinds[0]?.kind ?? "ntfy", before?: ChannelDraft): ChannelDraft {
  if (channel) return { kind: channel.kind, name: channel.name, fields: { ...channel.fields }, withContent: channel.with_content, shared: channel.owner === null };
  const fields: Record<string, string> = kind === "ntfy" ? { topic: newTopic() } : {};
  return { kind, name: before?.name ?? "", fields, withContent: before?.withContent ?? false, shared: before?.shared ?? false };
}

export function bodyOf(draft: ChannelDraft, fields: readonly ChannelField[]): NewChannel {
  return { name: draft.name.trim(), kind: draft.kind, fields: typed(draft, fields), with_content: draft.withContent, shared: draft.shared };
}

/** A secret that wasn't typed again is left out, and stays. */
export function changeOf(draft: ChannelDraft, fields: readonly ChannelField[]): ChannelChange {
  return { name: draft.name.trim(), fields: typed(draft, fields), with_content: draft.withContent };
}

function typed(draft: ChannelDraft, fields: readonly ChannelField[]): Record<string, string> {
  const value = ({ name, secret }: ChannelField) => (secret ? draft.fields[name] : draft.fields[name]?.trim()) ?? "";
  return Object.fromEntries(fields.flatMap((field) => (value(field).trim() ? [[field.name, value(field)]] : [])));
}

/** Nobody can guess it: whoever knows a topic can read it. */
function newTopic(): string {
  const random = crypto.getRandomValues(new Uint8Array(TOPIC_LENGTH));
  return `handraise-${[...random].map((each) => LETTERS[each % LETTERS.length]).join("")}`;
}
