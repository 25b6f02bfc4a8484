import { type BodyReader, skipBody } from "../http/body.ts";
import type { HttpExchange } from "../http/request.ts";
import type { Streams } from "../http/sse.ts";
import type { ResponseWriter } from "../http/write-large.ts";
import type { Json } from "../lib/json.ts";
import type { BodyFormat, Caller, IncomingCall, Pipeline, Route, WireCall } from "../ports/index.ts";
import { JSON_FORMAT } from "./json-format.ts";

export interface HttpBindingParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly bodies: BodyReader;
  readonly writer: ResponseWriter;
}

/** The members of a call that a binding finds in the request body. */
interface CallBody {
  readonly params: Json | undefined;
  readonly metadata: Json | undefined;
  readonly bytes: number;
  readonly isNotification?: boolean;
}
export const NO_BODY: CallBody = { params: undefined, metadata: undefined, bytes: 0 };

/** An HTTP request as a call for the pipeline. */
export abstract class HttpCall implements IncomingCall<string> {
  protected readonly exchange: HttpExchange;
  protected readonly route: Route;
  protected readonly bodies: BodyReader;
  /** Whether the body is being read, or was. */
  protected isReading = false;

  constructor(exchange: HttpExchange, route: Route, bodies: BodyReader) {
    this.exchange = exchange;
    this.route = route;
    this.bodies = bodies;
  }

  get caller(): Caller {
    return this.exchange;
  }
  get agent(): string | undefined {
    return this.exchange.match.vars.agent;
  }
  get isPublic(): boolean {
    return false;
  }
  get format(): BodyFormat<string> {
    return JSON_FORMAT;
  }

  read(): WireCall | Promise<WireCall> {
    this.isReading = true;
    const text = this.bodies.read(this.exchange.request);
    return typeof text === "string" ? this.parse(text) : text.then(body => this.parse(body));
  }

  protected abstract parse(text: string): WireCall;

  withoutBody(): WireCall {
    if (!this.isReading) skipBody(this.exchange.request);
    return this.toCall(NO_BODY);
  }

  protected toCall(body: CallBody, method = this.route.method): WireCall {
    const { match, headers, certificate, query, base, signal } = this.exchange;
    return {
      transport: this.route.transport,
      endpoint: match.endpoint,
      vars: match.vars,
      headers,
      certificate,
      query,
      base,
      method,
      params: body.params,
      metadata: body.metadata,
      isNotification: body.isNotification,
      bytes: body.bytes,
      signal,
    };
  }
}
