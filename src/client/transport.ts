import type { Json, JsonObject } from "../lib/json.ts";

/** One call in the words of a dialect. */
export interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  /** Those of this call alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What stands beside the parameters, in the dialect that has it. */
  readonly metadata?: JsonObject | undefined;
}

export interface Piece {
  /** Where a lost stream would go on. */
  readonly id?: string;
  readonly result: Json;
}

/** Brings calls to an agent and answers back: envelope, framing and errors, whatever is said. */
export interface Transport {
  call(asked: Asked, signal: AbortSignal): Promise<Json>;
  stream(asked: Asked, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<Piece>;
}
