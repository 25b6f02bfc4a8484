import { afterBody, type Bodies, isJson, parseJson, skipBody, wrongType } from "../http/body.ts";
import { type HttpExchange, sendText } from "../http/request.ts";
import { openStream, type Streams } from "../http/sse.ts";
import type { Answers } from "../http/write-large.ts";
import type { BatchSource } from "../lib/batch-source.ts";
import { FirstBatchThen } from "../lib/batch-source.ts";
import type { Json } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { Authenticated, Frame, Pipeline, WireFault, WireReply } from "../ports/index.ts";
import { toCall } from "./call.ts";
import { sourceOfId } from "./source-of-id.ts";

export interface JsonRpcParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly bodies: Bodies;
  readonly answers: Answers;
}

/** `id` is kept as the JSON text that goes back. */
interface Opened {
  readonly id: string | undefined;
  readonly method: string;
  readonly params: Json | undefined;
  readonly metadata: Json | undefined;
  readonly bytes: number;
}
const NOTHING = { method: "", params: undefined, metadata: undefined, bytes: 0 };

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

  async function serve(exchange: HttpExchange): Promise<void> {
    let opened: Opened;
    let met: Authenticated | undefined;
    try {
      // To wait for what is already there would cost every call a turn.
      const meeting = pipeline.authenticate(exchange, exchange.match.vars.agent);
      met = meeting instanceof Promise ? await meeting : meeting;
      const body = parts.bodies.read(exchange.request);
      const text = typeof body === "string" ? body : await body;
      opened = readEnvelope(text, exchange.headers["content-type"]);
    } catch (error) {
      if (!met) skipBody(exchange.request);
      const { fault, id } = asEnvelopeFault(error);
      const reply = pipeline.refuse(toCall("jsonrpc", exchange, NOTHING), fault);
      return answer(exchange, reply, id);
    }
    const reply = await pipeline.handle(toCall("jsonrpc", exchange, opened), met);
    const silence = silenceFor(opened.id, reply);
    if (silence !== null) return forget(exchange, reply, silence);
    return answer(exchange, reply, opened.id ?? "null");
  }

  function answer(exchange: HttpExchange, reply: WireReply, id: string): void | Promise<void> {
    const { response } = exchange;
    if (reply.kind === "one") {
      const text = `{"jsonrpc":"2.0","id":${id},"result":${reply.json}}`;
      return parts.answers.send(response, 200, text, reply.headers, reply.release);
    }
    if (reply.kind === "fault" && !reply.fault.asStream)
      return sendText(response, reply.fault.status, toError(reply.fault, id), {
        ...reply.headers,
        ...afterBody(exchange.request),
      });
    openStream(response, reply.headers);
    const shown = reply.envelope.idInFrames ? id : undefined;
    const frames = reply.kind === "many" ? reply.frames : onlyOf({ json: "", fault: reply.fault });
    const head = `${headOf(shown)}"result":`;
    streams.write(response, frames, frame => {
      if (frame.fault) return toError(frame.fault, shown);
      return frame.bare ? frame.json : `${head}${frame.json}}`;
    });
  }

  /** A notification: it is done, and nothing is said. */
  function forget(exchange: HttpExchange, reply: WireReply, status: number): void {
    if (reply.kind === "many") reply.frames.close();
    if (reply.kind === "one") reply.release?.();
    exchange.response.writeHead(status, reply.headers);
    exchange.response.end();
  }

  return { serve };
}

const onlyOf = (frame: Frame): BatchSource<readonly Frame[]> => new FirstBatchThen([frame], null);

/** The status of a reply without words, if the call gets one: it had no id, and its dialect takes that for a notification. */
function silenceFor(id: string | undefined, reply: WireReply): number | null {
  const { withoutId, nullId } = reply.envelope;
  const rule = id === undefined ? withoutId : id === "null" ? nullId : "answer";
  if (rule === "answer" || (reply.kind === "fault" && reply.fault.body !== undefined)) return null;
  return rule;
}

function readEnvelope(text: string, type: string | undefined): Opened {
  const body = parseJson(text, type);
  if (Array.isArray(body)) throw invalid("Batches are not taken; send one call in each request");
  if (body === null || typeof body !== "object") throw invalid("The body must be a JSON-RPC request object");
  const { jsonrpc, method, params, metadata } = body as { [name: string]: Json };
  const id = readId((body as { id?: Json }).id, text);
  if (!isJson(type)) throw new EnvelopeFault(wrongType(type), id);
  if (jsonrpc !== "2.0") throw invalid('jsonrpc must be "2.0"', "jsonrpc", id);
  if (typeof method !== "string" || method === "") throw invalid("method must be a string", "method", id);
  return { id, method, params, metadata, bytes: text.length };
}

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

/** `id`: undefined where a dialect shows none. */
function toError(fault: WireFault, id: string | undefined): string {
  const { rpc: code, message, data, body, anonymous } = fault;
  if (body !== undefined) return JSON.stringify(body);
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return `${headOf(anonymous && id !== undefined ? "null" : id)}"error":${error}}`;
}

const headOf = (id: string | undefined): string =>
  id === undefined ? '{"jsonrpc":"2.0",' : `{"jsonrpc":"2.0","id":${id},`;
