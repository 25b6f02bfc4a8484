import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Task } from "../../model/index.ts";
import type { Operation, OperationResult, ReplyContext, WireCall } from "../../ports/index.ts";
import { readInteger } from "../shared/fields.ts";
import { readExtensions } from "../shared/headers.ts";

/** Long polling for callers of 1.0: an extension with what 1.1 has in members of its own (docs/dialects/v11.md). */

export const LONG_POLL = "urn:dragoman:long-poll:v1";

/** The generation that the caller has: as a header, because the requests of 1.0 have no member for it. */
const HEADER = "dragoman-current-generation";

/** The form of responses with generations. */
export const GENERATIONS = "generations";

export const GENERATION_RANGE = { min: 0, max: 2 ** 31 - 1 };

const EXTENSION = {
  uri: LONG_POLL,
  description: "Tasks have generations, and GetTask can wait for the next one",
  required: false,
};

export const requestsLongPoll = (call: ReplyContext): boolean => readExtensions(call).includes(LONG_POLL);

/** The operation of a call that requests the extension. */
export function withLongPoll(operation: Operation, call: WireCall): Operation {
  if (!requestsLongPoll(call)) return operation;
  const newerThan =
    operation.op === "get"
      ? readInteger(call.headers as JsonObject, HEADER, "", GENERATION_RANGE)
      : undefined;
  return { ...operation, form: GENERATIONS, ...(newerThan !== undefined && { newerThan }) } as Operation;
}

/** The card declares the extension. */
export function withExtension(result: OperationResult): OperationResult {
  if (result.kind !== "card") return result;
  const { agent } = result;
  const extensions = [...agent.card.extensions, EXTENSION];
  return { ...result, agent: { ...agent, card: { ...agent.card, extensions } } };
}

/** The task or update, with the generation in its metadata. */
export function withGeneration(encoded: JsonObject, { generation }: Task): JsonObject {
  if (generation === undefined) return encoded;
  const metadata = isObject(encoded.metadata) ? encoded.metadata : {};
  return { ...encoded, metadata: { ...metadata, [LONG_POLL]: { generation } } };
}
