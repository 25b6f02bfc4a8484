import type { JsonObject } from "../../lib/json.ts";
import type { Dialect, OperationResult } from "../../ports/index.ts";
import { readLastEventIdHeader } from "../shared/headers.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { UiMessageEncoder } from "./encoder.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { METHODS, ROUTES } from "./routes.ts";

const ENDPOINTS = toEndpoints(ROUTES);
const STREAM_HEADERS = { "X-Vercel-AI-UI-Message-Stream": "v1" };

/** AI SDK UI (`useChat`): a chat is a context, a message of the assistant is a turn. */
export function createAiSdkUi(): Dialect {
  return {
    name: "aisdk",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint),
    decode: call => (METHODS[call.method] as (typeof METHODS)[string])(call),
    encode: (_operation, result) => encodeStopped(result),
    replyDialect: () => "aisdk",
    encodeStep: () => null,
    createEncoder: (_operation, call) => new UiMessageEncoder(readLastEventIdHeader(call)),
    encodePush: () => null,
    encodeFault,
    replyHeaders: call => (call.method === "stop" ? {} : STREAM_HEADERS),
  };
}

/** The only call whose response is no stream. */
function encodeStopped(result: OperationResult): JsonObject {
  if (result.kind !== "task")
    throw new Error(`AI SDK UI cannot encode a result of the kind "${result.kind}"`);
  const { id, contextId, status } = result.task;
  return { taskId: id, id: contextId, state: status.state };
}
