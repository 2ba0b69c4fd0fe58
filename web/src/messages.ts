/** Finds a message by its key and fills in its values. Knows nothing of the page; the worker has its own catalogue. */

/** A message, a plural message (an object with `other`), or a group of messages. */
export type Messages = { readonly [name: string]: string | Messages };
export type Values = Readonly<Record<string, string | number>>;

/** All messages of one language, by area. A key is `<area>.<path>`. */
export class Catalogue {
  private locale = "en";
  private plurals = new Intl.PluralRules("en");
  private numbers = new Intl.NumberFormat("en");

  constructor(private areas: Record<string, Messages>) {}

  /** Switches to another language, with the messages `areas`. */
  use(language: string, areas: Record<string, Messages>): void {
    this.areas = { ...areas };
    this.locale = localeOf(language);
    this.plurals = new Intl.PluralRules(language);
    this.numbers = new Intl.NumberFormat(this.locale);
  }

  /** Adds the English messages of a part that is loaded later. Other languages are loaded completely. */
  add(area: string, messages: Messages): void {
    this.areas[area] ??= messages;
  }

  /** The message of this key, or null if there is none. */
  say(key: string, values: Values = {}): string | null {
    let found: string | Messages | undefined = this.areas;
    for (const name of key.split(".")) found = typeof found === "object" ? found[name] : undefined;
    if (typeof found === "object") found = this.pluralOf(found, values["count"]);
    return found === undefined ? null : found.replace(/\{(\w+)\}/g, (_, name: string) => this.show(values[name]));
  }

  /** For dates and amounts: the hub's language, in the reader's region. */
  get region(): string {
    return this.locale;
  }

  private pluralOf(message: Messages, count: string | number | undefined): string | undefined {
    const chosen = message[this.plurals.select(Number(count))] ?? message["other"];
    return typeof chosen === "string" ? chosen : undefined;
  }

  private show(value: string | number | undefined): string {
    return typeof value === "number" ? this.numbers.format(value) : (value ?? "");
  }
}

/** A hub has one language; readers in London and Boston still write dates their own way. */
function localeOf(language: string): string {
  const [primary] = language.split("-");
  return globalThis.navigator?.languages?.find((each) => each.split("-")[0] === primary) ?? language;
}
