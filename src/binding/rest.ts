import { afterBody, type Bodies, isJson, parseJson, skipBody, wrongType } from "../http/body.ts";
import { type HttpExchange, sendText } from "../http/request.ts";
import { openStream, type Streams } from "../http/sse.ts";
import type { Answers } from "../http/write-large.ts";
import type { Json } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { Authenticated, Frame, Pipeline, Route, WireFault, WireReply } from "../ports/index.ts";
import { toCall } from "./call.ts";

export interface RestParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly bodies: Bodies;
  readonly answers: Answers;
}

/** Calls whose method is the path: what is asked stands in path, query and body, and nothing is around the answer. */
export function createRest(parts: RestParts) {
  const { pipeline, streams, bodies } = parts;

  async function serve(exchange: HttpExchange, route: Route): Promise<void> {
    let body: Body;
    let met: Authenticated | undefined;
    try {
      met = await pipeline.authenticate(exchange, exchange.match.vars.agent);
      body = await readParams(exchange, route);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (!met) skipBody(exchange.request);
      return answer(exchange, pipeline.refuse(callOf(exchange, route, NO_BODY), error));
    }
    return answer(exchange, await pipeline.handle(callOf(exchange, route, body), met));
  }

  async function readParams({ request, headers }: HttpExchange, route: Route): Promise<Body> {
    if (route.verb === "POST") return readBody(await bodies.read(request), headers["content-type"]);
    request.resume();
    return NO_BODY;
  }

  function answer(exchange: HttpExchange, reply: WireReply): void | Promise<void> {
    if (reply.kind === "one")
      return parts.answers.send(exchange.response, 200, reply.json, reply.headers, reply.release);
    if (reply.kind === "fault") return sendFault(exchange, reply);
    openStream(exchange.response, reply.headers);
    if (exchange.request.method === "HEAD") return leave(exchange, reply);
    // The official clients look for errors among the names of events.
    streams.write(exchange.response, reply.frames, toData, "error");
  }

  /** Whoever wants nothing but the head of a stream is not kept waiting for its end. */
  function leave(exchange: HttpExchange, reply: WireReply & { kind: "many" }): void {
    reply.frames.close();
    exchange.response.end();
  }

  return { serve };
}

interface Body {
  readonly params: Json | undefined;
  readonly bytes: number;
}
const NO_BODY: Body = { params: undefined, bytes: 0 };

const callOf = (exchange: HttpExchange, route: Route, body: Body) =>
  toCall("rest", exchange, { method: route.method, ...body, metadata: undefined });

/** Some clients send no body, or the word `null`, where there is nothing to say. */
function readBody(text: string, type: string | undefined): Body {
  if (text.trim() === "") return NO_BODY;
  const body = parseJson(text, type);
  if (!isJson(type)) throw wrongType(type);
  return { params: body ?? undefined, bytes: text.length };
}

export function sendFault(exchange: HttpExchange, reply: WireReply & { kind: "fault" }): void {
  sendText(exchange.response, reply.fault.http, toBody(reply.fault), {
    ...reply.headers,
    ...afterBody(exchange.request),
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
