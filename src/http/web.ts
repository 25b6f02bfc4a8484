import { PassThrough, Readable } from "node:stream";
import type { HttpRequest, HttpResponse } from "./request.ts";

/** A web-standard request as request and response of a router. */
export interface WebExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly responded: Promise<Response>;
  readonly url: URL;
}

export function toWebExchange(input: Request): WebExchange {
  if (input.bodyUsed) throw new TypeError("The body of this request has already been read");
  const url = new URL(input.url);
  const request = toHttpRequest(input, url);
  const { promise: responded, resolve, reject } = Promise.withResolvers<Response>();
  const response = new WebResponse(input.method === "HEAD", resolve);
  const onAbort = (): void => void response.destroy();
  input.signal.addEventListener("abort", onAbort);
  response.once("close", () => {
    input.signal.removeEventListener("abort", onAbort);
    // The rest of an unread body is discarded.
    request.destroy();
    reject(input.signal.reason ?? new Error("The request was aborted"));
  });
  if (input.signal.aborted) onAbort();
  return { request, response, responded, url };
}

function toHttpRequest(input: Request, url: URL): HttpRequest & Readable {
  const body = input.body
    ? Readable.fromWeb(input.body as Parameters<typeof Readable.fromWeb>[0])
    : Readable.from([]);
  // `close` follows.
  body.on("error", () => {});
  const headers = { host: url.host, ...Object.fromEntries(input.headers) };
  // There is no connection on which the rest of a body could be taken for a request.
  return Object.assign(body, { method: input.method, headers, complete: true });
}

/** A response without a socket: the client reads it from a web stream, at its own pace. */
class WebResponse implements HttpResponse {
  headersSent = false;
  readonly #pipe = new PassThrough();
  readonly #isHead: boolean;
  readonly #respond: (response: Response) => void;
  #head: ResponseInit & { readonly status: number } = { status: 500 };
  #isStreaming = false;
  readonly #headers: Record<string, string> = {};

  constructor(isHead: boolean, respond: (response: Response) => void) {
    this.#isHead = isHead;
    this.#respond = respond;
    // The web stream reports it to the client.
    this.#pipe.on("error", () => {});
  }

  get destroyed(): boolean {
    return this.#pipe.destroyed;
  }

  get writableNeedDrain(): boolean {
    return this.#pipe.writableNeedDrain;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.headersSent = true;
    const texts = Object.entries({ ...this.#headers, ...headers }).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    this.#head = { status, headers: texts };
  }

  write(text: string | Uint8Array, encoding: BufferEncoding = "utf8"): boolean {
    if (this.#isHead) return true;
    if (!this.#isStreaming) {
      this.#isStreaming = true;
      this.#respond(new Response(Readable.toWeb(this.#pipe) as ReadableStream, this.#head));
    }
    return this.#pipe.write(text, encoding);
  }

  end(text = ""): void {
    if (this.#isStreaming) return void this.#pipe.end(text);
    const isEmpty = this.#isHead || NO_CONTENT.has(this.#head.status);
    this.#respond(new Response(isEmpty ? null : text, this.#head));
    this.#pipe.resume().end();
  }

  destroy(): void {
    this.#pipe.destroy();
  }

  on(event: string, listener: () => void): void {
    this.#pipe.on(event, listener);
  }

  once(event: string, listener: () => void): void {
    this.#pipe.once(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#pipe.off(event, listener);
  }
}

/** Statuses that allow no body. */
const NO_CONTENT: ReadonlySet<number> = new Set([204, 304]);
