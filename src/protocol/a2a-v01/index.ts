import { Fault } from "../../model/index.ts";
import type { Dialect, Operation, ReplyContext, WireCall } from "../../ports/index.ts";
import { createReplyHeaders, readVersion } from "../shared/headers.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { decodeMethod, JSON_RPC } from "../shared/routes.ts";
import { encodeResult, encodeStep, encodeTask } from "./encode.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { ENDPOINTS, isLaterMethod, isOwnMethod, METHODS, ROUTES } from "./routes.ts";

export interface V01Options {
  readonly versionPolicy: "lenient" | "strict";
}

/** A2A 0.1, the first published version: callers choose the ids of their tasks. */
export function createV01(options: V01Options): Dialect {
  const isStrict = options.versionPolicy === "strict";
  return {
    name: "v01",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims(call) {
      if (!ENDPOINTS.has(call.endpoint)) return false;
      if (call.transport === "jsonrpc" && isOwnMethod(call.method)) return true;
      return readVersion(call) === "0.1" && (isStrict || !isLaterMethod(call.method));
    },
    decode(call) {
      if (call.transport === "document")
        return { op: "card", agent: call.vars.agent as Operation["agent"], base: call.base(), form: "v01" };
      if (isStrict) checkVersion(call);
      return decodeMethod(call, METHODS, "v0.1");
    },
    encode: encodeResult,
    replyDialect: (call, origin) => (isSimplePushGet(call, origin) ? origin : "v01"),
    encodeStep,
    createEncoder: () => null,
    encodePush: (step, config) => encodeTaskPush(step, config, task => encodeTask(task, false)),
    encodeFault: (fault, call) => encodeFault(fault, call.method),
    replyHeaders: createReplyHeaders("0.1"),
  };
}

/** simple_a2a has the same method: its configs are returned in its shape, unless the caller names version 0.1. */
const isSimplePushGet = (call: ReplyContext, origin: string): boolean =>
  origin === "simple" && call.method === "tasks/pushNotification/get" && readVersion(call) !== "0.1";

function checkVersion(call: WireCall): void {
  const version = readVersion(call);
  if (version === undefined || version === "0.1") return;
  throw new Fault(
    "version-not-supported",
    `"${call.method}" is a method of v0.1; send A2A-Version: 0.1 or no version`,
  );
}
