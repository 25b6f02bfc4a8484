import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { V1_SCHEMA } from "../protocol/a2a-v1/schema.ts";
import { type Field, fieldsOf } from "../protocol/protobuf/schema.ts";
import { toCanonicalJson } from "./canonical.ts";

/** The text that a signature of a card covers. */
export interface Payload {
  readonly text: string;
  readonly covers: Coverage;
}
/** "document": the whole card. Members that are not covered can be changed without notice. */
export type Coverage = "document" | "v1.0" | "v1.0 without securitySchemes";

const isV1 = (card: JsonObject): boolean => Array.isArray(card.supportedInterfaces);
const isOlder = (card: JsonObject): boolean => card.protocolVersion !== undefined;

/**
 * The payloads that the server signs. Verifiers of v1.0 take the members of the definition, and differ about empty
 * values; verifiers of an older or hybrid card take the whole document.
 */
export function toSignedPayloads(card: JsonObject): readonly Payload[] {
  const { signatures: _, ...document } = card;
  const whole = isOlder(card) || !isV1(card) ? [toPayload(document, document)] : [];
  return unique([...(isV1(card) ? toV1Payloads(document) : []), ...whole]);
}

/** All payloads that a signature of another server may cover. */
export function toAcceptedPayloads(card: JsonObject): readonly Payload[] {
  const { signatures: _, ...document } = card;
  const others = isV1(card) ? toV1Payloads(document) : [toPayload(document, withoutEmpty(document))];
  return unique([toPayload(document, document), ...others]);
}

function toV1Payloads(document: JsonObject): readonly Payload[] {
  const form = toCanonicalCard(document);
  const { securitySchemes, ...rest } = form;
  const payloads = [toPayload(document, form), toPayload(document, withoutEmpty(form))];
  if (securitySchemes === undefined) return payloads;
  // The official library for JavaScript (1.3.0) drops them before it verifies.
  const text = toCanonicalJson(withoutEmpty(rest));
  return [...payloads, { text, covers: "v1.0 without securitySchemes" }];
}

const toPayload = (document: JsonObject, form: Json): Payload => ({
  text: toCanonicalJson(form),
  covers: isCovered(document, form) ? "document" : "v1.0",
});

const unique = (payloads: readonly Payload[]): readonly Payload[] =>
  payloads.filter(({ text }, i) => payloads.findIndex(other => other.text === text) === i);

/** Whether the form has all of the value, except empty values and false. */
function isCovered(value: Json, form: Json | undefined): boolean {
  if (isEmpty(value)) return true;
  if (form === undefined) return withoutEmpty(value) === null;
  if (Array.isArray(value))
    return Array.isArray(form) && value.every((element, i) => isCovered(element, form[i] as Json));
  if (!isObject(value)) return true;
  return (
    isObject(form) && Object.entries(value).every(([name, inner]) => isCovered(inner as Json, form[name]))
  );
}

const isEmpty = (value: Json): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length === 0 : !value;

// ---- v1 §8.4.1: the card as its definition writes it -----------------------------------------------------------

/**
 * Only the members of the definition, also for a hybrid card: a required field is always present, a field with
 * presence if it is set, any other field if it is not empty.
 */
export const toCanonicalCard = (card: JsonObject): JsonObject => toMessage("AgentCard", card);

function toMessage(message: string, from: JsonObject): JsonObject {
  const out: Record<string, Json> = {};
  for (const field of fieldsOf(V1_SCHEMA, message)) {
    const { name, required, optional, oneof } = field;
    const given = from[name];
    if (given === undefined && !required) continue;
    const value = given === undefined ? emptyValueOf(field) : toFieldValue(field, given);
    if (required || optional || oneof || !isEmpty(value)) out[name] = value;
  }
  return out;
}

const isMessage = (type: string): boolean => Object.hasOwn(V1_SCHEMA.messages, type);

function emptyValueOf({ type, form }: Field): Json {
  if (form === "list") return [];
  if (form === "map") return {};
  return isMessage(type) ? toMessage(type, {}) : "";
}

function toFieldValue({ type, form }: Field, value: Json): Json {
  if (!isMessage(type)) return value;
  const toElement = (element: Json): Json => (isObject(element) ? toMessage(type, element) : element);
  if (form === "list") return Array.isArray(value) ? value.map(toElement) : value;
  if (form !== "map" || !isObject(value)) return toElement(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toElement(inner as Json)]));
}

/** Without any empty value, required or not, as some official libraries have it; null: nothing is left. */
function withoutEmpty(value: Json): Json {
  if (value === "" || value === null) return null;
  if (Array.isArray(value)) {
    const rest = value.map(withoutEmpty).filter(element => element !== null);
    return rest.length > 0 ? rest : null;
  }
  if (!isObject(value)) return value;
  const rest = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpty(inner as Json)] as const)
    .filter(([, inner]) => inner !== null);
  return rest.length > 0 ? Object.fromEntries(rest) : null;
}
