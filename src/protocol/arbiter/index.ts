import { Fault } from "../../model/index.ts";
import type { Dialect, JsonRpcEnvelope } from "../../ports/index.ts";
import { withoutPush } from "../shared/card.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { JSON_RPC, type VendorProfile } from "../shared/routes.ts";
import { encodeResult, encodeStep, encodeTask } from "./encode.ts";
import { RequestEncoder } from "./encode-requests.ts";
import { encodeFault, FAULTS, isVersionSupported, VERSION_MESSAGE } from "./faults.ts";
import { decodeCard, decodeMethod, decodeRequest, INDEX, isClaimed, REQUEST_FORM, ROUTES } from "./routes.ts";

/** A call without an id is answered with the id null. */
const ENVELOPE: JsonRpcEnvelope = { ...JSON_RPC, withoutId: "all" };

/** Arbiter: calls itself v1.0; its shapes are those of v0.3, at its own paths. */
export function createArbiter(profile: VendorProfile): Dialect {
  return {
    name: "arbiter",
    routes: ROUTES[profile],
    faults: FAULTS,
    envelope: ENVELOPE,
    signsCards: false,
    claims: call => isClaimed(call, profile),
    decode(call) {
      if (call.transport === "document") return decodeCard(call);
      if (call.transport === "rest") return decodeRequest(call);
      if (!isVersionSupported(call)) throw new Fault("version-not-supported", VERSION_MESSAGE);
      return decodeMethod(call, profile);
    },
    encode: (operation, result) => encodeResult(operation, withoutPush(result)),
    replyDialect: () => "arbiter",
    encodeStep,
    createEncoder(operation) {
      if (operation.form !== REQUEST_FORM) return null;
      // Callers of the default agent know it under this name; a request that is read by its id may be of any agent.
      const isIndex = operation.op === "stream" && operation.agent === undefined;
      return new RequestEncoder(isIndex ? INDEX : undefined);
    },
    // A running task has no artifacts here, so artifact events would repeat the same body.
    encodePush: (step, config) => encodeTaskPush(step, { ...config, events: "status" }, encodeTask),
    encodeFault,
    replyHeaders: () => VERSION_ONLY,
  };
}

const VERSION_ONLY = { "A2A-Version": "1.0" };
