/** Reads the response of an endpoint in chunks, streamed or not. */
import { readSse } from "../../client/sse.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Usage } from "../../model/index.ts";
import { readBytes } from "../shared/files.ts";
import { connectionError, EndpointError, toStreamError } from "./endpoint-error.ts";

export type ResponseChunk =
  | { readonly kind: "text" | "reasoning" | "refusal"; readonly text: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "end"; readonly reason: string };

const RESPONSE_BYTES_MAX = LIMITS.storageValueBytesMax;

/** `onActivity` is called for every part of a stream. */
export function readResponse(response: Response, onActivity: () => void): AsyncGenerator<ResponseChunk> {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("json") ? readWhole(response) : readStream(response, onActivity);
}

async function* readWhole(response: Response): AsyncGenerator<ResponseChunk> {
  const text = new TextDecoder().decode(await readBytes(response, RESPONSE_BYTES_MAX));
  const body = parse(text);
  const choice = findChoice(body);
  if (!choice)
    throw new EndpointError(`The response of the endpoint has no choice: ${text.slice(0, 200)}`, {});
  yield* toChunks(choice.message);
  yield* toUsage(body.usage);
  yield { kind: "end", reason: readFinishReason(choice) ?? "stop" };
}

async function* readStream(response: Response, onActivity: () => void): AsyncGenerator<ResponseChunk> {
  let reason: string | undefined;
  let usage: Json | undefined;
  let hasEvent = false;
  // SSE comments keep a stream alive, but do not count as its first chunk.
  const bytes = watch(response, () => hasEvent && onActivity());
  for await (const { data } of readSse(bytes, LIMITS.eventBytesMax)) {
    hasEvent = true;
    onActivity();
    if (data === "[DONE]") break;
    const chunk = parse(data);
    // Some endpoints report usage once, some report the total with each chunk.
    usage = chunk.usage ?? usage;
    const choice = findChoice(chunk);
    if (!choice) continue;
    yield* toChunks(choice.delta ?? choice.message);
    reason = readFinishReason(choice) ?? reason;
  }
  if (reason === undefined) throw connectionError("The stream ended without a finish reason");
  yield* toUsage(usage);
  yield { kind: "end", reason };
}

async function* watch(response: Response, onActivity: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of response.body ?? []) {
    onActivity();
    yield chunk as Uint8Array;
  }
}

function parse(text: string): JsonObject {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new EndpointError(`The endpoint sent invalid JSON: ${text.slice(0, 200)}`, {});
  }
  if (!isObject(json))
    throw new EndpointError(`The endpoint sent JSON that is not an object: ${text.slice(0, 200)}`, {});
  if (json.error !== undefined && json.error !== null) throw toStreamError(json.error);
  return json;
}

function findChoice({ choices }: JsonObject): JsonObject | undefined {
  const first = Array.isArray(choices) ? (choices[0] as Json | undefined) : undefined;
  return isObject(first) ? first : undefined;
}

const readFinishReason = ({ finish_reason: reason }: JsonObject): string | undefined =>
  typeof reason === "string" && reason !== "" ? reason : undefined;

function* toChunks(message: Json | undefined): Generator<ResponseChunk> {
  if (!isObject(message)) return;
  const reasoning = readText(message.reasoning_content) || readText(message.reasoning);
  if (reasoning !== "") yield { kind: "reasoning", text: reasoning };
  const text = readText(message.content);
  if (text !== "") yield { kind: "text", text };
  const refusal = readText(message.refusal);
  if (refusal !== "") yield { kind: "refusal", text: refusal };
}

/** A string, or a list of parts of which some are text. */
function readText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: Json) => (isObject(part) ? readText(part.text) : "")).join("");
}

function* toUsage(usage: Json | undefined): Generator<ResponseChunk> {
  if (!isObject(usage)) return;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const counters = { inputTokens: prompt_tokens, outputTokens: completion_tokens, totalTokens: total_tokens };
  const counted = Object.entries(counters).filter(([, count]) => Number.isFinite(count));
  yield { kind: "usage", usage: Object.fromEntries(counted) as Usage };
}
