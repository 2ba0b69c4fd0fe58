/** A form's fields, read from its flat JSON Schema, and the checks before it is sent: the same as the hub's. Pure. */
import { t } from "../texts";

export interface FieldSpec {
  name: string;
  title: string;
  hint: string;
  required: boolean;
  shape:
    | { kind: "text"; input: InputType; least: number | null; most: number | null }
    | { kind: "number"; whole: boolean; low: number | null; high: number | null }
    | { kind: "yes" }
    | { kind: "one"; choices: FieldChoice[] }
    | { kind: "several"; choices: FieldChoice[]; least: number | null; most: number | null }
    | { kind: "other" };
  /** What the schema fills in. */
  preset: unknown;
}

export type InputType = "text" | "email" | "url" | "date" | "datetime-local";

export interface FieldChoice {
  value: string;
  title: string;
  /** As in the schema: it may be a number. */
  raw: unknown;
}

type SchemaObject = Record<string, unknown>;

/** What a person has entered: text as typed, a checkbox, or several choices. */
export type FormDraft = Record<string, string | boolean | string[]>;

export function readFields(schema: SchemaObject): FieldSpec[] {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties).map(([name, property]) => {
    const field = isObject(property) ? property : {};
    return {
      name,
      title: text(field["title"]) || name,
      hint: [text(field["description"]), boundsOf(field)].filter(Boolean).join(" · "),
      required: required.includes(name),
      shape: shapeOf(field),
      preset: field["default"],
    };
  });
}

/** The fields before anything is typed: the schema's defaults. */
export function firstDraft(fields: readonly FieldSpec[]): FormDraft {
  return Object.fromEntries(fields.map((field) => [field.name, begin(field)]));
}

/** The content to send, or what is wrong with each field. */
export function fill(fields: readonly FieldSpec[], draft: FormDraft): { content: SchemaObject } | { wrong: Record<string, string> } {
  const wrong: Record<string, string> = {};
  const content: SchemaObject = {};
  for (const field of fields) {
    const value = draft[field.name];
    const trouble = check(field, value);
    if (trouble) wrong[field.name] = trouble;
    else if (!isEmpty(value)) content[field.name] = convert(field, value);
  }
  return Object.keys(wrong).length ? { wrong } : { content };
}

function check(field: FieldSpec, value: FormDraft[string] | undefined): string | null {
  if (isEmpty(value)) return field.required && field.shape.kind !== "yes" ? t("page.form.required", { title: field.title }) : null;
  const { shape } = field;
  switch (shape.kind) {
    case "number":
      return checkNumber(field.title, shape, String(value));
    case "text":
      return checkText(field.title, shape, String(value));
    case "several": {
      const chosen = value as string[];
      if (shape.least !== null && chosen.length < shape.least) return t("page.form.too_few", { title: field.title, count: shape.least });
      if (shape.most !== null && chosen.length > shape.most) return t("page.form.too_many", { title: field.title, count: shape.most });
      return null;
    }
    case "other":
      return readJson(String(value)) === undefined ? t("page.form.json", { title: field.title }) : null;
    default:
      return null;
  }
}

function checkNumber(title: string, shape: Extract<FieldSpec["shape"], { kind: "number" }>, value: string): string | null {
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) return t("page.form.number", { title });
  if (shape.whole && !Number.isInteger(number)) return t("page.form.whole", { title });
  if (shape.low !== null && number < shape.low) return t("page.form.low", { title, limit: shape.low });
  if (shape.high !== null && number > shape.high) return t("page.form.high", { title, limit: shape.high });
  return null;
}

function checkText(title: string, shape: Extract<FieldSpec["shape"], { kind: "text" }>, value: string): string | null {
  const length = [...value].length;
  if (shape.least !== null && length < shape.least) return t("page.form.short", { title, count: shape.least });
  if (shape.most !== null && length > shape.most) return t("page.form.long", { title, count: shape.most });
  if (shape.input === "email" && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)) return t("page.form.email", { title });
  if (shape.input === "url" && !/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value)) return t("page.form.url", { title });
  if (shape.input === "date" && !/^\d{4}-\d\d-\d\d$/.test(value)) return t("page.form.date", { title });
  if (shape.input === "datetime-local" && Number.isNaN(Date.parse(value))) return t("page.form.moment", { title });
  return null;
}

function convert(field: FieldSpec, value: FormDraft[string] | undefined): unknown {
  const { shape } = field;
  switch (shape.kind) {
    case "number":
      return Number(value);
    case "other":
      return readJson(String(value));
    case "one":
      return shape.choices.find((choice) => choice.value === value)?.raw;
    case "several":
      return shape.choices.filter((choice) => (value as string[]).includes(choice.value)).map((choice) => choice.raw);
    case "text":
      // A date and time needs its zone, which the browser's own field doesn't include.
      return shape.input === "datetime-local" ? new Date(String(value)).toISOString() : value;
    case "yes":
      return value;
  }
}

function shapeOf(field: SchemaObject): FieldSpec["shape"] {
  const choices = choicesOf(field);
  if (choices.length) return { kind: "one", choices };
  switch (field["type"]) {
    case "boolean":
      return { kind: "yes" };
    case "integer":
    case "number":
      return { kind: "number", whole: field["type"] === "integer", low: number(field["minimum"]), high: number(field["maximum"]) };
    case "array": {
      const inside = isObject(field["items"]) ? choicesOf(field["items"]) : [];
      if (!inside.length) return { kind: "other" };
      return { kind: "several", choices: inside, least: number(field["minItems"]), most: number(field["maxItems"]) };
    }
    case "string":
      return { kind: "text", input: inputOf(field["format"]), least: number(field["minLength"]), most: number(field["maxLength"]) };
    default:
      return { kind: "other" };
  }
}

function choicesOf(field: SchemaObject): FieldChoice[] {
  if (Array.isArray(field["enum"])) {
    const names = Array.isArray(field["enumNames"]) ? field["enumNames"] : [];
    return field["enum"].map((value, at) => ({ value: String(value), title: text(names[at]) || String(value), raw: value }));
  }
  const several = field["oneOf"] ?? field["anyOf"];
  if (!Array.isArray(several)) return [];
  return several
    .filter((each): each is SchemaObject => isObject(each) && "const" in each)
    .map((each) => ({ value: String(each["const"]), title: text(each["title"]) || String(each["const"]), raw: each["const"] }));
}

const INPUTS: Record<string, InputType> = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };

function inputOf(format: unknown): InputType {
  return INPUTS[String(format)] ?? "text";
}

/** The bounds of a number or a text, as a hint. */
function boundsOf(field: SchemaObject): string {
  const low = number(field["minimum"]) ?? number(field["minLength"]) ?? number(field["minItems"]);
  const high = number(field["maximum"]) ?? number(field["maxLength"]) ?? number(field["maxItems"]);
  const what = field["type"] === "string" ? "characters" : field["type"] === "array" ? "choices" : "number";
  if (low === null) return high === null ? "" : t(`page.form.bounds.${what}.high`, { high });
  if (high === null) return low === 1 && what !== "number" ? "" : t(`page.form.bounds.${what}.low`, { low });
  return t(`page.form.bounds.${what}.both`, { low, high });
}

function begin(field: FieldSpec): FormDraft[string] {
  const { preset, shape } = field;
  if (shape.kind === "yes") return preset === true;
  if (shape.kind === "several") return Array.isArray(preset) ? preset.map(String) : [];
  if (shape.kind === "other") return preset === undefined ? "" : JSON.stringify(preset);
  if (shape.kind === "text" && shape.input === "datetime-local" && typeof preset === "string") return localTime(preset);
  return preset === undefined || preset === null ? "" : String(preset);
}

/** A date and time as the browser's own field expects it: in local time. */
function localTime(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isEmpty(value: FormDraft[string] | undefined): boolean {
  return value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

function readJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
