/** Whether the screen is a phone's: lists are pages of their own there, and tables are cards. */
import { signal } from "@preact/signals";

const phone = matchMedia("(max-width: 45rem)");

export const narrow = signal(phone.matches);
phone.addEventListener("change", () => (narrow.value = phone.matches));
