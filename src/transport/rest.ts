import type { Pipeline, Route, WireFault, WireReply } from "../ports.ts";
import { toCall } from "./call.ts";
import { type Exchange, sendJson } from "./exchange.ts";
import { openStream, type Streams } from "./sse.ts";

export interface RestParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
}

/** Calls whose method is the path: what is asked stands in path and query. */
export function createRest(parts: RestParts) {
  async function serve(exchange: Exchange, route: Route): Promise<void> {
    const asked = { method: route.method, params: undefined, metadata: undefined };
    const reply = await parts.pipeline.handle(toCall("rest", exchange, asked));
    exchange.request.resume();
    if (reply.kind === "one") return sendJson(exchange.response, 200, reply.json, reply.headers);
    if (reply.kind === "fault") return sendFault(exchange, reply);
    openStream(exchange.response, reply.headers);
    return parts.streams.write(exchange.response, reply.frames, frame =>
      frame.fault ? JSON.stringify(toBody(frame.fault)) : frame.json,
    );
  }

  return { serve };
}

export function sendFault(exchange: Exchange, reply: WireReply & { kind: "fault" }): void {
  sendJson(exchange.response, reply.fault.http, JSON.stringify(toBody(reply.fault)), reply.headers);
}

function toBody(fault: WireFault): unknown {
  const { http: code, grpc: status, message, data, body } = fault;
  if (body !== undefined) return body;
  return { error: data === undefined ? { code, status, message } : { code, status, message, details: data } };
}
