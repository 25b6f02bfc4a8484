/** Values of LangGraph as JSON: messages are flat, as the Agent Server sends them. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";

/** Values without a JSON form are left out. */
export function toWire(value: unknown): Json {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, plain: unknown) {
    // `plain` has passed through toJSON, which is LangChain's own form.
    const raw = this[key];
    if (isRecord(raw) && typeof raw.toDict === "function") {
      const { type, data } = raw.toDict() as { type: string; data: object };
      return { ...data, type };
    }
    if (raw instanceof Error) return { name: raw.name, message: raw.message };
    return typeof plain === "bigint" ? String(plain) : plain;
  });
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** The message of an error that a state or a stream reports. */
export function toErrorText(error: unknown): string {
  if (isRecord(error) && typeof error.message === "string") return error.message;
  return typeof error === "string" ? error : JSON.stringify(error);
}
