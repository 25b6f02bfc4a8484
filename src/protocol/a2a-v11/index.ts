import type { Dialect, ReplyContext } from "../../ports/index.ts";
import { encodeResult, extendStep } from "../a2a-v1/encode.ts";
import { encodeFault } from "../a2a-v1/faults.ts";
import { createV1, ENDPOINTS, GRPC_ENDPOINT, PUSH_TYPES, type V1Options } from "../a2a-v1/index.ts";
import { decodeMethod, toMethodCall } from "../a2a-v1/routes.ts";
import { readVersionText } from "../shared/headers.ts";
import { isPushedStep, toEncodedPush } from "../shared/push-payload.ts";
import { encodeTask, withGeneration } from "./encode.ts";
import { toFaults } from "./faults.ts";
import { METHODS } from "./routes.ts";

const VERSION = /^1\.1(?:\.\d{1,9})?$/;
const isNamed = (call: ReplyContext): boolean => VERSION.test(readVersionText(call) ?? "");

/** The draft of A2A 1.1: the paths and methods of 1.0, with generations. Only calls that name the version get it. */
export function createV11(options: V1Options): Dialect {
  const v1 = createV1({ ...options, v11: "off" });
  const faults = toFaults(options.errorTable);
  return {
    ...v1,
    name: "v11",
    faults,
    claims: call => isNamed(call) && (call.endpoint === GRPC_ENDPOINT || ENDPOINTS.has(call.endpoint)),
    decode(call) {
      if (call.transport === "rest") return decodeMethod(toMethodCall(call), METHODS, "v1.1");
      if (call.transport !== "document") return decodeMethod(call, METHODS, "v1.1");
      const operation = v1.decode(call);
      return operation.op === "card" ? { ...operation, form: "v1" } : operation;
    },
    encode: (operation, result) => encodeResult(operation, result, options, encodeTask),
    replyDialect: () => "v11",
    encodeStep(step) {
      const data = extendStep(step, withGeneration);
      return data && { data, stableTaskFields: true };
    },
    encodePush: (step, config) =>
      isPushedStep(step, config)
        ? toEncodedPush(extendStep(step, withGeneration), PUSH_TYPES[options.errorTable])
        : null,
    encodeFault: fault => encodeFault(fault, faults),
    replyHeaders: (call, active) => ({ ...v1.replyHeaders(call, active), "A2A-Version": "1.1" }),
  };
}
