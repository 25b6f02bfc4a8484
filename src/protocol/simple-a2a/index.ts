import { Fault, isTerminal } from "../../model/index.ts";
import type { Dialect, JsonRpcEnvelope, Operation } from "../../ports/index.ts";
import { isPushedStep, toEncodedPush } from "../shared/push-payload.ts";
import { JSON_RPC, toEndpoints, type VendorProfile } from "../shared/routes.ts";
import { encodeResult, encodeStep } from "./encode.ts";
import { encodeFault, FAULTS, isVersionSupported, VERSION_MESSAGE } from "./faults.ts";
import { decodeMethod, isSimpleCall, ROUTES } from "./routes.ts";

/** The frames of a stream have no `id` member. */
const ENVELOPE: JsonRpcEnvelope = { ...JSON_RPC, idInFrames: false };

/** The Ruby gem simple_a2a: the methods of v0.1 with the parts of v1.0. */
export function createSimple(profile: VendorProfile): Dialect {
  const isStrict = profile === "strict";
  const routes = ROUTES[profile];
  const endpoints = toEndpoints(routes);
  return {
    name: "simple",
    routes,
    faults: FAULTS,
    envelope: ENVELOPE,
    signsCards: false,
    claims(call) {
      if (!endpoints.has(call.endpoint)) return false;
      if (call.transport === "document") return call.method === "card";
      return isStrict || isSimpleCall(call);
    },
    decode(call) {
      const agent = call.vars.agent as Operation["agent"];
      if (call.transport === "document") return { op: "card", agent, base: call.base(), form: "simple" };
      if (!isVersionSupported(call)) throw new Fault("version-not-supported", VERSION_MESSAGE);
      return decodeMethod(call, profile);
    },
    encode: encodeResult,
    replyDialect: () => "simple",
    encodeStep(step, closing) {
      const data = encodeStep(step, closing);
      return data && { data };
    },
    createEncoder: () => null,
    encodePush: (step, config) =>
      isPushedStep(step, config) ? toEncodedPush(encodeStep(step, isTerminal(step.task.status.state))) : null,
    encodeFault,
    replyHeaders: () => ({}),
  };
}
