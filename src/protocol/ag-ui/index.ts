import type { JsonObject } from "../../lib/json.ts";
import type { Dialect, OperationResult } from "../../ports/index.ts";
import { readLastEventIdHeader } from "../shared/headers.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { AgUiEncoder } from "./encoder.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { METHODS, ROUTES } from "./routes.ts";

const ENDPOINTS = toEndpoints(ROUTES);

/** AG-UI: a thread is a context, a run is a turn. */
export function createAgUi(): Dialect {
  return {
    name: "agui",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint),
    decode: call => (METHODS[call.method] as (typeof METHODS)[string])(call),
    encode: (_operation, result) => encodeCanceled(result),
    replyDialect: () => "agui",
    encodeStep: () => null,
    createEncoder: ({ form = "" }, call) => new AgUiEncoder(form, readLastEventIdHeader(call)),
    encodePush: () => null,
    encodeFault,
    replyHeaders: () => ({}),
  };
}

/** The only call whose response is no stream. */
function encodeCanceled(result: OperationResult): JsonObject {
  if (result.kind !== "task") throw new Error(`AG-UI cannot encode a result of the kind "${result.kind}"`);
  const { id, contextId, status } = result.task;
  return { threadId: contextId, taskId: id, state: status.state };
}
