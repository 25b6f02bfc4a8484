import type { Json, JsonObject } from "../lib/json.ts";
import type { HttpTarget } from "./http.ts";

/** One call: method and parameters are those of the dialect. */
export interface TransportRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Headers of this call only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A member of the JSON-RPC envelope beside `params`, in the dialect that has it. */
  readonly metadata?: JsonObject | undefined;
}

export interface TransportEvent {
  /** The event id after which a lost stream is resumed. */
  readonly id?: string;
  readonly result: Json;
}

/** Sends calls to an agent: envelope, framing and errors, independent of the dialect. */
export interface Transport {
  call(request: TransportRequest, signal: AbortSignal): Promise<Json>;
  stream(
    request: TransportRequest,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<TransportEvent>;
}

export type ClosableTransport = Transport & { close?(): void };
/** gRPC needs a package and Node: callers that have both pass it in. */
export type CreateGrpc = (target: HttpTarget) => Promise<ClosableTransport>;
