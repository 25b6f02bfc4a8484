import type { Dialect } from "../../ports/index.ts";
import { readLastEventIdHeader } from "../shared/headers.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { createEncoder, encodeResult } from "./encode.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { DIALECT, METHODS, ROUTES } from "./routes.ts";

const ENDPOINTS = toEndpoints(ROUTES);

/** The OpenAI API: agents are models, a turn of a task is a completion or a response. */
export function createOpenai(): Dialect {
  return {
    name: DIALECT,
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint),
    decode: call => (METHODS[call.method] as (typeof METHODS)[string])(call),
    encode: encodeResult,
    replyDialect: () => DIALECT,
    encodeStep: () => null,
    createEncoder: (operation, call) => createEncoder(operation, readLastEventIdHeader(call)),
    encodePush: () => null,
    encodeFault,
    replyHeaders: () => ({}),
  };
}
