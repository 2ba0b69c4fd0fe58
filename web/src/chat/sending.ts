/** Which key sends a message: Enter, wherever people write to Claude. Shift Enter is a new line. Pure. */
export function sendsMessage(event: KeyboardEvent): boolean {
  return event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing;
}
