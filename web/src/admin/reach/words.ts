/** Channels, steps, reasons and targets in words. */
import type { Channel, LogEntry, PreviewRow } from "../../generated/api";
import { me } from "../../store/desk";
import { reveal } from "../../text/reveal";
import { moment } from "../../text/times";
import { t } from "../../texts";
import type { Target } from "./chain";
import { delayInWords } from "./delays";
import "./texts";

const BUILT_IN = ["push", "telegram", "screens"] as const;

/** The name of a channel, which a person chose, or of one that is always there. */
export function channelName({ channel, label }: { channel: string; label: string }): string {
  const known = BUILT_IN.find((each) => each === channel);
  if (known) return t(`notifications.by.${known}`);
  return channel ? reveal(label || channel) : t("notifications.by.nobody");
}

/** Whom a notification is for: empty if for nobody in particular. */
export function personName(person: string | null): string {
  if (person === null) return "";
  return person === me.value?.name ? t("notifications.you") : reveal(person);
}

export function whenOf(after: number): string {
  return after === 0 ? t("notifications.when.at_once") : t("notifications.when.after", { delay: delayInWords(after) });
}

/** What a step would do for one channel and person. */
export function effectOf(row: PreviewRow, isFailing: boolean): string {
  switch (row.effect) {
    case "sent":
      return isFailing ? t("notifications.effect.failing") : t("notifications.effect.sent");
    case "shown":
      return t("notifications.effect.shown");
    case "later": {
      const how = row.reason === "quiet" || row.reason === "muted" ? row.reason : "at";
      return t(`notifications.effect.later.${how}`, { time: moment(row.at ?? row.until ?? "") });
    }
    default:
      return t("notifications.effect.not_sent", { reason: nowOf(row) });
  }
}

function nowOf({ reason, person }: PreviewRow): string {
  if (reason === null) return "";
  return reason === "looking" && person === me.value?.name ? t("notifications.now.looking_you") : t(`notifications.now.${reason}`);
}

/** What became of one notification. */
export function stateOf(entry: LogEntry): string {
  switch (entry.state) {
    case "failed":
      return t("notifications.log.state.failed", { reason: reveal(entry.detail) });
    case "held":
    case "skipped":
      return t(`notifications.log.state.${entry.state}`, { reason: pastOf(entry) });
    default:
      return t(`notifications.log.state.${entry.state}`);
  }
}

function pastOf({ reason, person, until }: LogEntry): string {
  if (reason === null) return "";
  if ((reason === "quiet" || reason === "muted") && until) return t(`notifications.until.${reason}`, { time: moment(until) });
  return reason === "looking" && person === me.value?.name ? t("notifications.past.looking_you") : t(`notifications.past.${reason}`);
}

export function targetName(target: Target, channels: readonly Channel[]): string {
  switch (target.to) {
    case "channel": {
      const known = channels.find((each) => each.id === target.channel);
      return known ? t("notifications.target.channel", { name: reveal(known.name) }) : t("notifications.target.lost_channel");
    }
    case "person":
      return t("notifications.target.person", { name: reveal(target.person) });
    case "devices":
      return target.person ? t("notifications.target.devices_of", { name: reveal(target.person) }) : t("notifications.target.devices");
    default:
      return t(`notifications.target.${target.to}`);
  }
}
