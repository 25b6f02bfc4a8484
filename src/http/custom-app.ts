/** Requests for an application of the operator, which serves the paths that the server does not have. */
import { Fault } from "../model/index.ts";
import type { Caller } from "../ports/index.ts";
import { type HttpRequest, type HttpResponse, sendError } from "./request.ts";

export interface CustomAppParts {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Throws a Fault if the caller is refused; undefined: the application checks its callers itself. */
  readonly authenticate: ((caller: Caller) => unknown) | undefined;
  readonly bodyBytesMax: number;
}
export interface CustomAppRequest extends Caller {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The path with its query. */
  readonly url: string;
  readonly base: () => string;
  readonly signal: () => AbortSignal;
}
export type ServeCustomApp = (request: CustomAppRequest) => Promise<void>;

export function createCustomApp({ fetch, authenticate, bodyBytesMax }: CustomAppParts): ServeCustomApp {
  return async call => {
    const { request, response } = call;
    try {
      if (authenticate) await authenticate(call);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      request.resume();
      const isRefused = error.code === "forbidden";
      return sendError(
        response,
        isRefused ? 403 : 401,
        isRefused ? "PERMISSION_DENIED" : "UNAUTHENTICATED",
        error.message,
      );
    }
    const body = await readBytes(request, bodyBytesMax);
    if (body === undefined) return sendError(response, 413, "INVALID_ARGUMENT", "The request is too large");
    await send(await fetch(toRequest(call, body)), response);
  };
}

function toRequest({ request, headers, url, base, signal }: CustomAppRequest, body: Buffer): Request {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(":")) all.set(name, value);
  const method = request.method ?? "GET";
  const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD";
  // Without the prefix under which the server is mounted.
  return new Request(new URL(url, base()), {
    method,
    headers: all,
    signal: signal(),
    ...(hasBody && { body: new Uint8Array(body) }),
  });
}

/** undefined: it is too large. */
function readBytes(request: HttpRequest, max: number): Promise<Buffer | undefined> {
  if (request.takeBody) {
    const body = request.takeBody();
    return Promise.resolve(body.length > max ? undefined : body);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", chunk => {
      size += chunk.length;
      if (size <= max) chunks.push(chunk);
    });
    request.on("end", () => resolve(size > max ? undefined : Buffer.concat(chunks)));
    request.on("error", reject as never);
  });
}

async function send(answer: Response, response: HttpResponse): Promise<void> {
  const headers: Record<string, string> = {};
  for (const [name, value] of answer.headers) headers[name] = value;
  response.writeHead(answer.status, headers);
  if (answer.body)
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await new Promise<void>(resolve => response.once("drain", resolve));
    }
  response.end();
}
