/** `/mcp`: the agents as tools for clients of the Model Context Protocol, over Streamable HTTP. */
import type { McpRequestContext, Server, ServerContext } from "@modelcontextprotocol/server";
import { loadPeer } from "../lib/optional-package.ts";
import type { Endpoint, EndpointRequest, EndpointResponse, Log } from "../ports/index.ts";
import { type CallsParts, createCalls, toInput, type Visit } from "./calls.ts";

export interface McpRouteParts extends CallsParts {
  readonly version: () => string;
  readonly bodyBytesMax: number;
}

export interface McpRoute {
  readonly own: Endpoint;
  close(): Promise<void>;
}

/** Who calls: the library hands it on, and does not look at it. */
type Visitor = Pick<Visit, "principal" | "base" | "headers">;

/** No sessions: each call is served by itself, so that any server of several can take it. */
export async function createMcpRoute(parts: McpRouteParts): Promise<McpRoute> {
  const { guard, log } = parts;
  const library = await loadPeer(
    "@modelcontextprotocol/server",
    "The option mcp",
    () => import("@modelcontextprotocol/server"),
  );
  const calls = createCalls(parts);

  function createServer({ authInfo }: McpRequestContext): Server {
    const visitor = authInfo?.extra as unknown as Visitor;
    const server = new library.Server(
      { name: "dragoman", version: parts.version() },
      { capabilities: { tools: {} } },
    );
    const visit = (ctx: ServerContext): Visit => ({
      ...visitor,
      signal: ctx.mcpReq.signal,
      progress: toProgress(ctx, log),
    });
    server.setRequestHandler("tools/list", (_request, ctx) => ({ tools: calls.list(visit(ctx)) }));
    server.setRequestHandler("tools/call", ({ params }, ctx) =>
      calls.call(visit(ctx), params.name, toInput(params.arguments)),
    );
    return server;
  }

  const handler = library.createMcpHandler(createServer, {
    maxRequestBodySize: parts.bodyBytesMax,
    onerror: error => log.debug({ err: error }, "a call over MCP went wrong"),
  });

  async function serve(call: EndpointRequest): Promise<EndpointResponse> {
    const principal = await guard.authenticate(call);
    if (!principal && !guard.allowsAnonymous(undefined)) guard.requirePrincipal(principal);
    const base = call.base();
    const extra = { principal, base, headers: call.headers } satisfies Visitor;
    const authInfo = { token: "", clientId: principal?.subject ?? "", scopes: [], extra };
    return toReply(await handler.fetch(await toRequest(call, base), { authInfo }));
  }

  return { own: { verb: "POST", path: "/mcp", serve }, close: () => handler.close() };
}

async function toRequest(call: EndpointRequest, base: string): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(call.headers))
    if (value !== undefined && !name.startsWith(":")) headers.set(name, value);
  return new Request(`${base}/mcp`, {
    method: "POST",
    headers,
    body: await call.body(),
    signal: call.signal(),
  });
}

async function toReply(response: Response): Promise<EndpointResponse> {
  const { status, body } = response;
  const type = response.headers.get("content-type");
  const headers = type === null ? {} : { "Content-Type": type };
  if (!body || !type?.startsWith("text/event-stream"))
    return { status, headers, text: await response.text() };
  const text = body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>;
  return { status, headers: { ...headers, "X-Accel-Buffering": "no" }, text };
}

/** Only those hear of it who gave a token for it. */
function toProgress({ mcpReq }: ServerContext, log: Log): Visit["progress"] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return message => {
    progress += 1;
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch(error => log.debug({ err: error }, "a caller over MCP did not hear of progress"));
  };
}
