import { closeIfUnread, isJson, parseJson, unsupportedContentType } from "../http/body.ts";
import { type HttpExchange, sendText } from "../http/request.ts";
import { openStream } from "../http/sse.ts";
import { FirstBatchThen } from "../lib/batch-source.ts";
import type { Json } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { Route, WireCall, WireFault, WireReply } from "../ports/index.ts";
import { type HttpBindingParts, HttpCall } from "./call.ts";
import { findId, readId } from "./jsonrpc-id.ts";

class JsonRpcCall extends HttpCall {
  /** The JSON text of the id; undefined: there is none, or it could not be read. */
  id: string | undefined;
  /** Whether the body is a JSON-RPC request. */
  isParsed = false;

  protected override parse(text: string): WireCall {
    const type = this.exchange.headers["content-type"];
    const body = parseJson(text, type);
    if (Array.isArray(body)) throw invalid("Batches are not supported; send one call in each request");
    if (body === null || typeof body !== "object")
      throw invalid("The body must be a JSON-RPC request object");
    const { jsonrpc, method, params, metadata } = body as { [name: string]: Json };
    this.id = readId((body as { id?: Json }).id, text);
    if (!isJson(type)) throw unsupportedContentType(type);
    if (jsonrpc !== "2.0") throw invalid('jsonrpc must be "2.0"', "jsonrpc");
    if (typeof method !== "string" || method === "") throw invalid("method must be a string", "method");
    this.isParsed = true;
    const isNotification = this.id === undefined || this.id === "null";
    return this.toCall({ params, metadata, bytes: text.length, isNotification }, method);
  }

  /** A refused call gets its id back if the body is there already and small: before authentication nothing is waited for. */
  override withoutBody(): WireCall {
    const { takeBody } = this.exchange.request;
    if (!this.isReading && takeBody) this.id = findId(takeBody.call(this.exchange.request));
    return super.withoutBody();
  }
}

const invalid = (message: string, field?: string): Fault =>
  new Fault("invalid-request", message, field === undefined ? {} : { field });

/** JSON-RPC 2.0 over HTTP POST. */
export function createJsonRpc({ pipeline, streams, bodies, writer }: HttpBindingParts) {
  async function serve(exchange: HttpExchange, route: Route): Promise<void> {
    const call = new JsonRpcCall(exchange, route, bodies);
    const reply = await pipeline.handle(call);
    if (call.id !== undefined || !call.isParsed || isAnswered(reply))
      return answer(exchange, reply, call.id ?? "null");
    if (reply.kind === "stream") reply.frames.close();
    if (reply.kind === "unary") reply.release?.();
    exchange.response.writeHead(204, reply.headers);
    exchange.response.end();
  }

  function answer(exchange: HttpExchange, reply: WireReply, id: string): void | Promise<void> {
    const { request, response } = exchange;
    if (reply.kind === "unary") {
      const text = `{"jsonrpc":"2.0","id":${id},"result":${reply.body}}`;
      return writer.send(response, 200, text, reply.headers, reply.release);
    }
    if (reply.kind === "fault" && !reply.fault.asStream) {
      const headers = { ...reply.headers, ...closeIfUnread(request) };
      return sendText(response, reply.fault.status, toError(reply.fault, id), headers);
    }
    openStream(response, reply.headers);
    const frameId = reply.envelope.idInFrames ? id : undefined;
    const frames =
      reply.kind === "stream" ? reply.frames : new FirstBatchThen([{ fault: reply.fault }], null);
    const head = `${headOf(frameId)}"result":`;
    streams.write(response, frames, frame => {
      if (frame.fault) return toError(frame.fault, frameId);
      return frame.bare ? frame.data : `${head}${frame.data}}`;
    });
  }

  return { serve };
}

/** Whether a call without an id gets a response. */
function isAnswered(reply: WireReply): boolean {
  const { withoutId } = reply.envelope;
  if (reply.kind !== "fault") return withoutId === "all";
  return withoutId !== "none" || reply.fault.body !== undefined;
}

/** `id`: undefined where the dialect sends none. */
function toError(fault: WireFault, id: string | undefined): string {
  const { rpc: code, message, data, body, anonymous } = fault;
  if (body !== undefined) return JSON.stringify(body);
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return `${headOf(anonymous && id !== undefined ? "null" : id)}"error":${error}}`;
}

const headOf = (id: string | undefined): string =>
  id === undefined ? '{"jsonrpc":"2.0",' : `{"jsonrpc":"2.0","id":${id},`;
