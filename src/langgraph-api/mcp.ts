/** MCP as the Agent Server has it: a tool for each assistant, with the input of its graph as arguments. No sessions. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { toFaultTable } from "../protocol/shared/faults.ts";
import type { Assistant, AssistantRecords } from "./assistant-records.ts";
import { matchesFilter } from "./authorize.ts";
import { schemasOf } from "./plain-agent.ts";
import type { ApiCall, ApiReply, ApiRoute } from "./route.ts";
import type { RunCreation } from "./run-create.ts";
import type { RunStreams } from "./run-stream.ts";
import type { ThreadRecords } from "./thread-records.ts";

export interface McpRouteParts {
  readonly assistants: AssistantRecords;
  readonly creation: RunCreation;
  readonly streams: RunStreams;
  readonly threads: ThreadRecords;
  readonly version: () => string;
}

/** The newest first. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

export function createMcpRoutes(parts: McpRouteParts): readonly ApiRoute[] {
  const { assistants, creation, streams, threads } = parts;

  async function listTools(call: ApiCall): Promise<readonly JsonObject[]> {
    const { filter } = await call.authorize({ resource: "assistants", action: "search" }, {});
    const all = (await assistants.list(call.scope)).filter(one => matchesFilter(one.metadata, filter));
    return Promise.all(
      all.slice(0, LIMITS.mcpToolsMax).map(async assistant => ({
        name: toToolName(assistant, all),
        description: assistant.description ?? `The assistant ${assistant.name}`,
        inputSchema: await inputSchemaOf(assistants.findGraph(call.scope, assistant.graph_id)),
      })),
    );
  }

  async function callTool(call: ApiCall, params: JsonObject): Promise<JsonObject> {
    const { filter } = await call.authorize({ resource: "assistants", action: "search" }, {});
    const all = (await assistants.list(call.scope)).filter(one => matchesFilter(one.metadata, filter));
    const found = all.find(one => toToolName(one, all) === params.name);
    if (!found) throw new Fault("invalid-params", `${UNKNOWN_TOOL}: ${String(params.name)}`);
    const input = isObject(params.arguments) ? params.arguments : {};
    const { run } = await creation.create(call, undefined, { assistant_id: found.assistant_id, input });
    const end = await streams.waitForEnd(call, run);
    if (!end) throw new Fault("unavailable", "The run has not ended");
    const result = await streams.readResult(call, run, end);
    await threads.remove(call.scope, run.thread.id);
    const isError = isObject(result) && "__error__" in result;
    return { content: [{ type: "text", text: JSON.stringify(result) }], isError };
  }

  function answer(call: ApiCall, method: string, params: JsonObject): Json | Promise<Json> {
    switch (method) {
      case "initialize": {
        const asked = params.protocolVersion;
        return {
          protocolVersion:
            typeof asked === "string" && VERSIONS.includes(asked) ? asked : (VERSIONS[0] as string),
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: "dragoman", version: parts.version() },
        };
      }
      case "ping":
        return {};
      case "tools/list":
        return listTools(call).then(tools => ({ tools }));
      case "tools/call":
        return callTool(call, params);
      default:
        throw new Fault("method-not-found", `Method not found: ${method}`);
    }
  }

  async function serve(call: ApiCall): Promise<ApiReply> {
    const { body } = call;
    if (!isObject(body) || body.jsonrpc !== "2.0" || typeof body.method !== "string")
      return toReply(
        null,
        toError(new Fault("invalid-request", "The body is not a call of JSON-RPC 2.0")),
        400,
      );
    // Notifications and responses need no answer.
    if (body.id === undefined || body.id === null) return { status: 202 };
    try {
      const params = isObject(body.params) ? body.params : {};
      return toReply(body.id, { result: await answer(call, body.method, params) });
    } catch (error) {
      if (!(error instanceof Fault) || NOT_FOR_MODELS.has(error.code)) throw error;
      if (body.method !== "tools/call" || error.message.startsWith(UNKNOWN_TOOL))
        return toReply(body.id, toError(error));
      // A fault of a tool is for the model to read.
      return toReply(body.id, {
        result: { content: [{ type: "text", text: error.message }], isError: true },
      });
    }
  }

  return [
    { verb: "POST", path: "/mcp", access: "write", serve },
    {
      verb: "DELETE",
      path: "/mcp",
      access: "read",
      serve: () => ({ status: 404, json: { detail: "There are no sessions" } }),
    },
  ];
}

const toReply = (id: Json, members: JsonObject, status = 200): ApiReply => ({
  status,
  json: { jsonrpc: "2.0", id, ...members },
});

const FAULTS = toFaultTable({});
const UNKNOWN_TOOL = "Unknown tool";
/** Answered with the status of HTTP. */
const NOT_FOR_MODELS: ReadonlySet<string> = new Set([
  "internal",
  "unauthenticated",
  "forbidden",
  "rate-limited",
  "unavailable",
]);

const toError = ({ code, message }: Fault): JsonObject => ({ error: { code: FAULTS[code].rpc, message } });

/** By its name, unless it is that of another one as well. */
function toToolName(assistant: Assistant, all: readonly Assistant[]): string {
  const isUnique = all.filter(one => one.name === assistant.name).length === 1;
  return isUnique && /^[\w.-]{1,64}$/.test(assistant.name) ? assistant.name : assistant.assistant_id;
}

async function inputSchemaOf(agent: Agent | undefined): Promise<JsonObject> {
  const schema = (agent && (await schemasOf(agent)).input) ?? {};
  return schema.type === "object" ? schema : { ...schema, type: "object" };
}
