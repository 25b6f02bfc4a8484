import { Fault, type Json, LIMITS } from "../model/index.ts";
import type { Frame, Pipeline, WireCall, WireFault, WireReply } from "../ports.ts";
import type { Bodies } from "./body.ts";
import { type Exchange, sendJson } from "./exchange.ts";
import { sourceOfId } from "./source.ts";
import type { Streams } from "./sse.ts";

export interface JsonRpcParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly bodies: Bodies;
}

/** An envelope: `id` is kept as the JSON text that goes back. */
interface Envelope {
  readonly id: string | undefined;
  readonly method: string;
  readonly params: Json | undefined;
}

/** A refusal with the id to answer under, if one could be read. */
class EnvelopeFault extends Error {
  readonly fault: Fault;
  readonly id: string;
  constructor(fault: Fault, id = "null") {
    super(fault.message);
    this.fault = fault;
    this.id = id;
  }
}

/** JSON-RPC 2.0 over HTTP POST. */
export function createJsonRpc(parts: JsonRpcParts) {
  const { pipeline, streams } = parts;

  async function serve(exchange: Exchange): Promise<void> {
    let envelope: Envelope;
    try {
      envelope = readEnvelope(await parts.bodies.read(exchange.request), exchange.headers["content-type"]);
    } catch (error) {
      const { fault, id } = asEnvelopeFault(error);
      const reply = pipeline.refuse(toCall(exchange, "", undefined), fault);
      return answer(exchange, reply, id);
    }
    const call = toCall(exchange, envelope.method, envelope.params);
    const reply = await pipeline.handle(call);
    if (envelope.id === undefined) return forget(exchange, reply);
    return answer(exchange, reply, envelope.id);
  }

  function answer(exchange: Exchange, reply: WireReply, id: string): Promise<void> | void {
    const { response } = exchange;
    if (reply.kind === "one")
      return sendJson(response, 200, `{"jsonrpc":"2.0","id":${id},"result":${reply.json}}`, reply.headers);
    if (reply.kind === "fault" && !reply.fault.asStream)
      return sendJson(response, httpStatus(reply.fault), toError(reply.fault, id), {
        ...reply.headers,
        // A body that is still on its way cannot be told from the next request.
        ...(!exchange.request.complete && { Connection: "close" }),
      });
    if (reply.kind === "fault")
      return open(exchange, reply.headers, one({ json: "", fault: reply.fault }), id);
    return open(exchange, reply.headers, reply.frames, id);
  }

  function open(
    exchange: Exchange,
    headers: Readonly<Record<string, string>>,
    frames: AsyncIterable<readonly Frame[]>,
    id: string,
  ): Promise<void> {
    exchange.response.writeHead(200, {
      ...headers,
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-cache",
      "X-Accel-Buffering": "no",
    });
    const head = `{"jsonrpc":"2.0","id":${id},"result":`;
    return streams.write(exchange.response, frames, frame => {
      if (frame.fault) return toError(frame.fault, id);
      return frame.bare ? frame.json : `${head}${frame.json}}`;
    });
  }

  /** A notification: it is done, and nothing is said. */
  async function forget(exchange: Exchange, reply: WireReply): Promise<void> {
    if (reply.kind === "many") await reply.frames[Symbol.asyncIterator]().return?.();
    exchange.response.writeHead(204, reply.headers);
    exchange.response.end();
  }

  return { serve };
}

async function* one(frame: Frame): AsyncGenerator<readonly Frame[]> {
  yield [frame];
}

function toCall(exchange: Exchange, method: string, params: Json | undefined): WireCall {
  const { place, headers, query, base } = exchange;
  return {
    transport: "jsonrpc",
    endpoint: place.endpoint,
    agent: place.agent,
    headers,
    query,
    base,
    method,
    params,
    signal: () => exchange.signal(),
  };
}

function readEnvelope(text: string, type: string | undefined): Envelope {
  const body = parse(text, type);
  if (Array.isArray(body)) throw invalid("Batches are not taken; send one call in each request");
  if (body === null || typeof body !== "object") throw invalid("The body must be a JSON-RPC request object");
  const { jsonrpc, method, params } = body as { [name: string]: Json };
  const id = readId((body as { id?: Json }).id, text);
  if (!isJson(type)) throw new EnvelopeFault(wrongType(type), id);
  if (jsonrpc !== "2.0") throw invalid('jsonrpc must be "2.0"', "jsonrpc", id);
  if (typeof method !== "string" || method === "") throw invalid("method must be a string", "method", id);
  return { id, method, params };
}

function parse(text: string, type: string | undefined): Json {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Json;
  } catch {
    throw new EnvelopeFault(isJson(type) ? new Fault("parse", "The body is not JSON") : wrongType(type));
  }
}

const isJson = (type: string | undefined): boolean =>
  type === undefined || type === "application/json" || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type);

const wrongType = (type: string | undefined): Fault =>
  new Fault("content-type-not-supported", `Send the header Content-Type: application/json, not ${type}`, {
    field: "Content-Type",
  });

/** The id as JSON text, exactly as it came. */
function readId(id: Json | undefined, text: string): string | undefined {
  if (id === undefined) return undefined;
  if (id === null) return "null";
  if (typeof id === "string" && id.length <= LIMITS.idCharsMax && id.isWellFormed())
    return JSON.stringify(id);
  if (typeof id === "number" && Number.isFinite(id)) {
    const source = Number.isSafeInteger(id) ? String(id) : sourceOfId(text);
    if (source && source.length <= LIMITS.idCharsMax) return source;
  }
  throw invalid(`id must be a string or a number of at most ${LIMITS.idCharsMax} characters, or null`, "id");
}

const invalid = (message: string, field?: string, id?: string): EnvelopeFault =>
  new EnvelopeFault(new Fault("invalid-request", message, field === undefined ? {} : { field }), id);

function asEnvelopeFault(error: unknown): { fault: Fault; id: string } {
  if (error instanceof EnvelopeFault) return error;
  if (error instanceof Fault) return { fault: error, id: "null" };
  throw error;
}

function toError(fault: WireFault, id: string): string {
  const { rpc: code, message, data } = fault;
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** JSON-RPC errors travel with 200; what concerns the HTTP request itself has its own status. */
const OWN_STATUS: ReadonlySet<string> = new Set([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "too-large",
  "too-slow",
  "unavailable",
]);
const httpStatus = (fault: WireFault): number => (OWN_STATUS.has(fault.code) ? fault.http : 200);
