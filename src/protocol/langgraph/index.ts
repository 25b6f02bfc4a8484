import type { Dialect } from "../../ports/index.ts";
import { withoutPush } from "../shared/card.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { JSON_RPC, type VendorProfile } from "../shared/routes.ts";
import { encodeResult, encodeStep, encodeTask } from "./encode.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { decodeCall, decodeCard, isClaimed, isV1Call, ROUTES } from "./routes.ts";

/** LangGraph Agent Server (LangSmith Deployment): a subset of v0.3 at its own paths. */
export function createLanggraph(profile: VendorProfile): Dialect {
  return {
    name: "langgraph",
    routes: ROUTES[profile],
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: isClaimed,
    decode: call => (call.transport === "document" ? decodeCard(call) : decodeCall(call, profile)),
    encode:
      profile === "strict"
        ? (operation, result) => encodeResult(operation, withoutPush(result))
        : encodeResult,
    replyDialect: call => (profile === "on" && isV1Call(call) ? "v1" : "langgraph"),
    encodeStep(step, closing) {
      const data = encodeStep(step, closing);
      return data && { event: "message", data };
    },
    createEncoder: () => null,
    encodePush: (step, config) => encodeTaskPush(step, config, encodeTask),
    encodeFault,
    replyHeaders: (_call, active): Record<string, string> =>
      active.length > 0 ? { "X-A2A-Extensions": active.join(", ") } : {},
  };
}
