import type { Json } from "../lib/json.ts";
import { parseJson, readBody } from "./http.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { readSse } from "./sse.ts";
import type { TransportEvent } from "./transport.ts";

/** `lastEventId`: the event after which the stream is resumed. */
export const streamHeaders = (lastEventId: string | undefined): Readonly<Record<string, string>> => ({
  accept: "text/event-stream",
  ...(lastEventId && { "last-event-id": lastEventId }),
});

/** The events of a response. `toResult` throws for an event that is an error. */
export async function* readEvents(
  url: string,
  response: Response,
  toResult: (data: Json, event: string) => Json,
): AsyncGenerator<TransportEvent> {
  for await (const { id, event, data } of readSse(readBody(url, response), CLIENT_LIMITS.eventCharsMax)) {
    const result = toResult(parseJson(url, data), event);
    yield id === undefined ? { result } : { id, result };
  }
}
