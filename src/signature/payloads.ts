import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { canonical } from "./canonical.ts";
import { asDefined, withoutEmpty } from "./card-fields.ts";

/** What a signature of a card is over. */
export interface Payload {
  readonly text: string;
  readonly covers: Coverage;
}
/** "document": all of it. What is not covered can be changed unseen. */
export type Coverage = "document" | "v1.0" | "v1.0 without securitySchemes";

const isV1 = (card: JsonObject): boolean => Array.isArray(card.supportedInterfaces);
const isOlder = (card: JsonObject): boolean => card.protocolVersion !== undefined;

/**
 * What we sign of a card. Readers of v1.0 look at what they know, and differ about what is empty; readers of an older
 * card, or of one that is both, look at all that they got.
 */
export function payloadsOf(card: JsonObject): readonly Payload[] {
  const { signatures: _, ...document } = card;
  const whole = isOlder(card) || !isV1(card) ? [toPayload(document, document)] : [];
  return unique([...(isV1(card) ? formsOf(document) : []), ...whole]);
}

/** Everything that a signature of others may be over. */
export function readingsOf(card: JsonObject): readonly Payload[] {
  const { signatures: _, ...document } = card;
  const others = isV1(card) ? formsOf(document) : [toPayload(document, withoutEmpty(document))];
  return unique([toPayload(document, document), ...others]);
}

function formsOf(document: JsonObject): readonly Payload[] {
  const form = asDefined(document);
  const { securitySchemes, ...rest } = form;
  const forms = [toPayload(document, form), toPayload(document, withoutEmpty(form))];
  if (securitySchemes === undefined) return forms;
  // The official library for JavaScript (1.3.0) loses them on the way to what it checks.
  const text = canonical(withoutEmpty(rest));
  return [...forms, { text, covers: "v1.0 without securitySchemes" }];
}

const toPayload = (document: JsonObject, form: Json): Payload => ({
  text: canonical(form),
  covers: isIn(document, form) ? "document" : "v1.0",
});

const unique = (payloads: readonly Payload[]): readonly Payload[] =>
  payloads.filter(({ text }, i) => payloads.findIndex(other => other.text === text) === i);

/** Whether nothing of it is missing there but what is empty, or false. */
function isIn(value: Json, there: Json | undefined): boolean {
  if (!value || (typeof value === "object" && Object.keys(value).length === 0)) return true;
  if (there === undefined) return withoutEmpty(value) === null;
  if (Array.isArray(value))
    return Array.isArray(there) && value.every((one, i) => isIn(one, there[i] as Json));
  if (!isObject(value)) return true;
  return isObject(there) && Object.entries(value).every(([name, inner]) => isIn(inner as Json, there[name]));
}
