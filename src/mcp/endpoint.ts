/** `/mcp`: the agents as tools for clients of the Model Context Protocol, over Streamable HTTP. */
import type { McpRequestContext, Server, ServerContext } from "@modelcontextprotocol/server";
import { loadOptionalPackage } from "../lib/optional-package.ts";
import type { Endpoint, EndpointRequest, EndpointResponse, Log } from "../ports/index.ts";
import { createToolCalls, type ToolCaller, type ToolCallParts, toInput } from "./tool-calls.ts";

export interface McpEndpointParts extends ToolCallParts {
  readonly version: () => string;
  readonly bodyBytesMax: number;
  readonly log: Log;
}

export interface McpEndpoint {
  readonly endpoint: Endpoint;
  close(): Promise<void>;
}

/** The MCP library passes it on without reading it. */
type CallerInfo = Pick<ToolCaller, "principal" | "base" | "headers">;

/** Without sessions: each call stands alone, so that any server of a cluster can serve it. */
export async function createMcpEndpoint(parts: McpEndpointParts): Promise<McpEndpoint> {
  const { pipeline, log } = parts;
  const library = await loadOptionalPackage(
    "@modelcontextprotocol/server",
    "The option mcp",
    () => import("@modelcontextprotocol/server"),
  );
  const calls = createToolCalls(parts);
  // Read from a file: once, and not for each call.
  const serverInfo = { name: "dragoman", version: parts.version() };

  function createServer({ authInfo }: McpRequestContext): Server {
    const info = authInfo?.extra as unknown as CallerInfo;
    const server = new library.Server(serverInfo, { capabilities: { tools: {} } });
    const toCaller = (context: ServerContext): ToolCaller => ({
      ...info,
      signal: context.mcpReq.signal,
      progress: toProgress(context, log),
    });
    server.setRequestHandler("tools/list", (_request, context) => ({ tools: calls.list(toCaller(context)) }));
    server.setRequestHandler("tools/call", ({ params }, context) =>
      calls.call(toCaller(context), params.name, toInput(params.arguments)),
    );
    return server;
  }

  const handler = library.createMcpHandler(createServer, {
    maxRequestBodySize: parts.bodyBytesMax,
    onerror: error => log.debug({ err: error }, "an MCP call failed"),
  });

  async function serve(request: EndpointRequest): Promise<EndpointResponse> {
    const principal = await pipeline.authenticate(request, undefined);
    const base = request.base();
    const extra = { principal, base, headers: request.headers } satisfies CallerInfo;
    const authInfo = { token: "", clientId: principal?.subject ?? "", scopes: [], extra };
    return toResponse(await handler.fetch(await toRequest(request, base), { authInfo }));
  }

  return { endpoint: { verb: "POST", path: "/mcp", serve }, close: () => handler.close() };
}

async function toRequest(request: EndpointRequest, base: string): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !name.startsWith(":")) headers.set(name, value);
  return new Request(`${base}/mcp`, {
    method: "POST",
    headers,
    body: await request.body(),
    signal: request.signal(),
  });
}

async function toResponse(response: Response): Promise<EndpointResponse> {
  const { status, body } = response;
  const type = response.headers.get("content-type");
  const headers = type === null ? {} : { "Content-Type": type };
  if (!body || !type?.startsWith("text/event-stream"))
    return { status, headers, text: await response.text() };
  const text = body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>;
  return { status, headers: { ...headers, "X-Accel-Buffering": "no" }, text };
}

/** undefined: the caller sent no progress token. */
function toProgress({ mcpReq }: ServerContext, log: Log): ToolCaller["progress"] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return message => {
    progress += 1;
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch(error => log.debug({ err: error }, "a progress notification failed"));
  };
}
