import { Fault, type Json } from "../model/index.ts";
import type { Frame, Pipeline, Route, WireFault, WireReply } from "../ports.ts";
import { type Bodies, isJson, parseJson, wrongType } from "./body.ts";
import { toCall } from "./call.ts";
import { type Exchange, sendText } from "./exchange.ts";
import { openStream, type Streams } from "./sse.ts";

export interface RestParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly bodies: Bodies;
}

/** Calls whose method is the path: what is asked stands in path, query and body, and nothing is around the answer. */
export function createRest(parts: RestParts) {
  const { pipeline, streams, bodies } = parts;

  async function serve(exchange: Exchange, route: Route): Promise<void> {
    let params: Json | undefined;
    try {
      params = await readParams(exchange, route);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return answer(exchange, pipeline.refuse(callOf(exchange, route, undefined), error));
    }
    return answer(exchange, await pipeline.handle(callOf(exchange, route, params)));
  }

  async function readParams({ request, headers }: Exchange, route: Route): Promise<Json | undefined> {
    if (route.verb === "POST") return readBody(await bodies.read(request), headers["content-type"]);
    request.resume();
    return undefined;
  }

  function answer(exchange: Exchange, reply: WireReply): Promise<void> | void {
    if (reply.kind === "one") return sendText(exchange.response, 200, reply.json, reply.headers);
    if (reply.kind === "fault") return sendFault(exchange, reply);
    openStream(exchange.response, reply.headers);
    if (exchange.request.method === "HEAD") return leave(exchange, reply);
    // The official clients look for errors among the names of events.
    return streams.write(exchange.response, reply.frames, toData, "error");
  }

  /** Whoever wants nothing but the head of a stream is not kept waiting for its end. */
  async function leave(exchange: Exchange, reply: WireReply & { kind: "many" }): Promise<void> {
    await reply.frames[Symbol.asyncIterator]().return?.();
    exchange.response.end();
  }

  return { serve };
}

const callOf = (exchange: Exchange, route: Route, params: Json | undefined) =>
  toCall("rest", exchange, { method: route.method, params, metadata: undefined });

/** Some clients send no body, or the word `null`, where there is nothing to say. */
function readBody(text: string, type: string | undefined): Json | undefined {
  if (text.trim() === "") return undefined;
  const body = parseJson(text, type);
  if (!isJson(type)) throw wrongType(type);
  return body ?? undefined;
}

export function sendFault(exchange: Exchange, reply: WireReply & { kind: "fault" }): void {
  sendText(exchange.response, reply.fault.http, toBody(reply.fault), {
    ...reply.headers,
    // A body that is still on its way cannot be told from the next request.
    ...(!exchange.request.complete && { Connection: "close" }),
  });
}

const toData = (frame: Frame): string => (frame.fault ? toBody(frame.fault) : frame.json);

function toBody(fault: WireFault): string {
  const { http: code, grpc: status, message, data, body } = fault;
  if (body !== undefined) return JSON.stringify(body);
  return JSON.stringify({
    error: data === undefined ? { code, status, message } : { code, status, message, details: data },
  });
}
