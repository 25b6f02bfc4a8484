import type { Json } from "../lib/json.ts";

/** An event of a channel of the streaming protocol, without its number. */
export interface ProtocolEvent {
  readonly method: string;
  readonly namespace: readonly string[];
  readonly node?: string;
  readonly data: Json;
}
