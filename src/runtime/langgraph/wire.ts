/** Values of LangGraph as JSON: messages are flat, as the Agent Server sends them. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";

/** Deeper values are left to JSON.stringify, which also finds cycles. */
const DEPTH_MAX = 100;

/**
 * Values without a JSON form are left out. Values are copied here and not by JSON.stringify, which would first ask each
 * message for LangChain's own form, and whose text would have to be parsed again.
 */
export const toWire = (value: unknown): Json => copy(value, DEPTH_MAX) ?? null;

/** undefined: the value has no JSON form. */
function copy(value: unknown, depth: number): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "bigint":
      return String(value);
    case "object":
      return value === null ? null : copyObject(value as Members, depth);
    default:
      return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

function copyObject(value: Members, depth: number): Json | undefined {
  if (depth === 0) return toJson(value);
  if (Array.isArray(value)) return value.map(one => copy(one, depth - 1) ?? null);
  if (typeof value.toDict === "function") return copyMembers(toMessage(value), depth);
  if (value instanceof Error) return { name: value.name, message: value.message };
  return isPlain(value) ? copyMembers(value, depth) : toJson(value);
}

function copyMembers(value: Members, depth: number): Json {
  const members: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const member = copy(value[name], depth - 1);
    if (member === undefined) continue;
    if (name === "__proto__") Object.defineProperty(members, name, { ...OWN, value: member });
    else members[name] = member;
  }
  return members;
}

const OWN = { configurable: true, enumerable: true, writable: true } as const;

const isPlain = (value: Members): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && typeof value.toJSON !== "function";
};

function toMessage(value: Members): Members {
  const { type, data } = (value.toDict as () => { type: string; data: object }).call(value);
  return { ...data, type };
}

/** Instances of other classes, in the form that they have in JSON. */
function toJson(value: Members): Json | undefined {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, plain: unknown) {
    // `plain` has passed through toJSON, which is LangChain's own form.
    const raw = this[key];
    if (isRecord(raw) && typeof raw.toDict === "function") return toMessage(raw);
    if (raw instanceof Error) return { name: raw.name, message: raw.message };
    return typeof plain === "bigint" ? String(plain) : plain;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

/** The message of an error that a state or a stream reports. */
export function toErrorText(error: unknown): string {
  if (isRecord(error) && typeof error.message === "string") return error.message;
  return typeof error === "string" ? error : JSON.stringify(error);
}
