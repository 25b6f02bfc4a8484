/** What an endpoint says, piece by piece, whether it streams or not. */
import { readSse } from "../../client/sse.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Usage } from "../../model/index.ts";
import { readBytes } from "../shared/files.ts";
import { broken, EndpointError, toStreamError } from "./endpoint-error.ts";

export type Piece =
  | { readonly kind: "text" | "reasoning" | "refusal"; readonly text: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "end"; readonly reason: string };

const ANSWER_BYTES_MAX = LIMITS.shelfValueBytesMax;

/** `alive` is called whenever something came. */
export function readPieces(response: Response, alive: () => void): AsyncGenerator<Piece> {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("json") ? readWhole(response) : readStream(response, alive);
}

async function* readWhole(response: Response): AsyncGenerator<Piece> {
  const text = new TextDecoder().decode(await readBytes(response, ANSWER_BYTES_MAX));
  const answer = parse(text);
  const choice = choiceIn(answer);
  if (!choice) throw new EndpointError(`The endpoint answered without a choice: ${text.slice(0, 200)}`, {});
  yield* toPieces(choice.message);
  yield* toUsage(answer.usage);
  yield { kind: "end", reason: toReason(choice) ?? "stop" };
}

async function* readStream(response: Response, alive: () => void): AsyncGenerator<Piece> {
  let reason: string | undefined;
  let usage: Json | undefined;
  let hasBegun = false;
  // Comments keep a stream alive, but to keep somebody waiting is no beginning.
  const chunks = watched(response, () => hasBegun && alive());
  for await (const { data } of readSse(chunks, LIMITS.eventBytesMax)) {
    hasBegun = true;
    alive();
    if (data === "[DONE]") break;
    const chunk = parse(data);
    // Some tell it once, some tell with each chunk what it is so far.
    usage = chunk.usage ?? usage;
    const choice = choiceIn(chunk);
    if (!choice) continue;
    yield* toPieces(choice.delta ?? choice.message);
    reason = toReason(choice) ?? reason;
  }
  if (reason === undefined) throw broken("The stream ended in the middle");
  yield* toUsage(usage);
  yield { kind: "end", reason };
}

async function* watched(response: Response, alive: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of response.body ?? []) {
    alive();
    yield chunk as Uint8Array;
  }
}

function parse(text: string): JsonObject {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new EndpointError(`The endpoint said something that is not JSON: ${text.slice(0, 200)}`, {});
  }
  if (!isObject(json)) throw new EndpointError(`The endpoint said ${text.slice(0, 200)}`, {});
  if (json.error !== undefined && json.error !== null) throw toStreamError(json.error);
  return json;
}

function choiceIn({ choices }: JsonObject): JsonObject | undefined {
  const first = Array.isArray(choices) ? (choices[0] as Json | undefined) : undefined;
  return isObject(first) ? first : undefined;
}

const toReason = ({ finish_reason: reason }: JsonObject): string | undefined =>
  typeof reason === "string" && reason !== "" ? reason : undefined;

function* toPieces(said: Json | undefined): Generator<Piece> {
  if (!isObject(said)) return;
  const thought = textIn(said.reasoning_content) || textIn(said.reasoning);
  if (thought !== "") yield { kind: "reasoning", text: thought };
  const text = textIn(said.content);
  if (text !== "") yield { kind: "text", text };
  const refusal = textIn(said.refusal);
  if (refusal !== "") yield { kind: "refusal", text: refusal };
}

/** A text, or a list of parts of which some are text. */
function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: Json) => (isObject(part) ? textIn(part.text) : "")).join("");
}

function* toUsage(usage: Json | undefined): Generator<Piece> {
  if (!isObject(usage)) return;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const counters = { inputTokens: prompt_tokens, outputTokens: completion_tokens, totalTokens: total_tokens };
  const counted = Object.entries(counters).filter(([, count]) => Number.isFinite(count));
  yield { kind: "usage", usage: Object.fromEntries(counted) as Usage };
}
