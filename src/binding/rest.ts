import { closeIfUnread, isJson, parseJson, unsupportedContentType } from "../http/body.ts";
import { type HttpExchange, sendText } from "../http/request.ts";
import { openStream } from "../http/sse.ts";
import type { Frame, Route, WireCall, WireFault, WireReply } from "../ports/index.ts";
import { type HttpBindingParts, HttpCall, NO_BODY } from "./call.ts";

class RestCall extends HttpCall {
  override read(): WireCall | Promise<WireCall> {
    if (this.route.verb === "POST") return super.read();
    this.isReading = true;
    this.exchange.request.resume();
    return this.toCall(NO_BODY);
  }

  /** Some clients send no body, or `null`, where there are no parameters. */
  protected override parse(text: string): WireCall {
    if (text.trim() === "") return this.toCall(NO_BODY);
    const type = this.exchange.headers["content-type"];
    const params = parseJson(text, type) ?? undefined;
    if (!isJson(type)) throw unsupportedContentType(type);
    return this.toCall({ params, metadata: undefined, bytes: text.length });
  }
}

/** HTTP+JSON: path and verb are the method, the parameters are in path, query and body, and replies have no envelope. */
export function createRest({ pipeline, streams, bodies, writer }: HttpBindingParts) {
  async function serve(exchange: HttpExchange, route: Route): Promise<void> {
    const { request, response } = exchange;
    const reply = await pipeline.handle(new RestCall(exchange, route, bodies));
    if (reply.kind === "unary") return writer.send(response, 200, reply.body, reply.headers, reply.release);
    if (reply.kind === "fault") return sendFault(exchange, reply);
    openStream(response, reply.headers);
    if (request.method === "HEAD") {
      reply.frames.close();
      response.end();
      return;
    }
    // The official clients recognise errors by the name of the event.
    streams.write(response, reply.frames, toData, "error");
  }

  return { serve };
}

export function sendFault(exchange: HttpExchange, reply: WireReply & { kind: "fault" }): void {
  if (reply.fault.http === NO_CONTENT) {
    exchange.response.writeHead(NO_CONTENT, reply.headers);
    exchange.response.end();
    return;
  }
  sendText(exchange.response, reply.fault.http, toBody(reply.fault), {
    ...reply.headers,
    ...closeIfUnread(exchange.request),
  });
}

/** In some dialects it is no error that there is nothing. */
const NO_CONTENT = 204;

const toData = (frame: Frame): string => (frame.fault ? toBody(frame.fault) : frame.data);

function toBody(fault: WireFault): string {
  const { http: code, grpc: status, message, data, body } = fault;
  if (body !== undefined) return JSON.stringify(body);
  return JSON.stringify({
    error: data === undefined ? { code, status, message } : { code, status, message, details: data },
  });
}
