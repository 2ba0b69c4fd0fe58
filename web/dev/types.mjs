/** Writes the types of the API and of the texts to src/generated: from the OpenAPI document on stdin, and from the catalogue. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

/** The areas of the catalogue that the page shows, and which parts of them. */
const CATALOGUE = "../src/handraise/texts/en";
const AREAS = { page: null, compose: null, start: null, admin: null, review: null, notifications: null, worker: null, card: ["choice", "denial", "kind", "left", "session", "usage", "waiting"] };

const document = JSON.parse(readFileSync(0, "utf8"));
const schemas = document.components.schemas;
const sent = new Set();

/** What is sent may leave out what has a default; what is received always has it. */
function markSent(schema) {
  if (!schema || typeof schema !== "object") return;
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    if (sent.has(name)) return;
    sent.add(name);
    markSent(schemas[name]);
    return;
  }
  for (const each of Object.values(schema)) {
    if (Array.isArray(each)) each.forEach(markSent);
    else markSent(each);
  }
}

function typeOf(schema, optional) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map((each) => typeOf(each, optional)).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `(${typeOf(schema.items ?? {}, optional)})[]`;
    case "object":
      return schema.properties ? fieldsOf(schema, optional) : `Record<string, ${values(schema)}>`;
    default:
      return "unknown";
  }
}

function values(schema) {
  const inside = schema.additionalProperties;
  return inside && typeof inside === "object" ? typeOf(inside, false) : "unknown";
}

function fieldsOf(schema, optional) {
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties).map(([name, field]) => {
    // What has no default is left out where it doesn't apply.
    const mark = !required.has(name) && (optional || !("default" in field)) ? "?" : "";
    return `  ${JSON.stringify(name)}${mark}: ${typeOf(field, optional)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

for (const path of Object.values(document.paths)) {
  for (const operation of Object.values(path)) markSent(operation.requestBody);
}
const parts = Object.entries(schemas).map(([name, schema]) => {
  const says = schema.description ? `/** ${schema.description.split("\n")[0]} */\n` : "";
  return `${says}export type ${name} = ${typeOf(schema, sent.has(name))};\n`;
});
mkdirSync("src/generated", { recursive: true });
writeFileSync("src/generated/api.ts", `/** Made from the hub's OpenAPI document. Not edited by hand. */\n\n${parts.join("\n")}`);

/** `"page.more_lines": { count: number }`, or null where a message takes no values. */
function linesOf(key, message) {
  if (typeof message === "object" && !("other" in message)) return Object.entries(message).flatMap(([name, each]) => linesOf(`${key}.${name}`, each));
  const texts = typeof message === "string" ? [message] : Object.values(message);
  const names = new Set(texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1])));
  if (typeof message === "object") names.add("count");
  const fields = [...names].map((name) => `${name}: ${name === "count" ? "number" : "string | number"}`);
  return [`  ${JSON.stringify(key)}: ${fields.length ? `{ ${fields.join("; ")} }` : "null"};`];
}

const messages = Object.entries(AREAS).flatMap(([area, parts]) => {
  const all = JSON.parse(readFileSync(`${CATALOGUE}/${area}.json`, "utf8"));
  return (parts ?? Object.keys(all)).flatMap((name) => linesOf(`${area}.${name}`, all[name]));
});
writeFileSync("src/generated/texts.ts", `/** Made from the catalogue. Not edited by hand. */\n\nexport interface TextValues {\n${messages.join("\n")}\n}\n\nexport type TextKey = keyof TextValues;\n`);
