/** The last notification that did not arrive, while this page was open and until someone looks into it. */
import { effect, signal } from "@preact/signals";
import type { FeedNotificationFailed } from "../generated/api";
import type { Item } from "../feed/model";
import { may, me } from "./desk";
import { place } from "./place";

export const failure = signal<FeedNotificationFailed | null>(null);

export function takeFailure(item: Item): void {
  if (item.type !== "notification.failed") return;
  // Someone else's phone is a matter for admins.
  if (item.person === "" || item.person === me.peek()?.name || may("admin")) failure.value = item;
}

effect(() => {
  const here = place.value;
  if (here.view === "admin" && here.page === "notifications") failure.value = null;
});
