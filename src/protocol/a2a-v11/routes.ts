import { defined } from "../../lib/json.ts";
import type { WireCall } from "../../ports/index.ts";
import { GENERATION_RANGE } from "../a2a-v1/long-poll.ts";
import { createMethods } from "../a2a-v1/routes.ts";
import { readInteger, readObject, readParams } from "../shared/fields.ts";
import type { MethodTable } from "../shared/routes.ts";

const V1_METHODS = createMethods("v11");
const CONFIGURATION = "configuration";

/** v1.1 §3.2.2: ignored for a message that begins a task. */
function readExpected(call: WireCall): { readonly ifGeneration?: number } {
  const configuration = readObject(readParams(call), CONFIGURATION, "") ?? {};
  return defined({
    ifGeneration: readInteger(configuration, "ifGenerationMatch", CONFIGURATION, GENERATION_RANGE),
  });
}

/** Those of v1.0, with the members of 1.1. */
export const METHODS: MethodTable = {
  ...V1_METHODS,
  SendMessage(call) {
    const operation = V1_METHODS.SendMessage(call);
    return { ...operation, send: { ...operation.send, ...readExpected(call) } };
  },
  SendStreamingMessage(call) {
    const operation = V1_METHODS.SendStreamingMessage(call);
    return { ...operation, send: { ...operation.send, ...readExpected(call) } };
  },
  GetTask(call) {
    const newerThan = readInteger(readParams(call), "currentGeneration", "", GENERATION_RANGE);
    return defined({ ...V1_METHODS.GetTask(call), newerThan });
  },
};
