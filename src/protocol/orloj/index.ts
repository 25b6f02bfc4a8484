import type { Dialect } from "../../ports/index.ts";
import { withoutPush } from "../shared/card.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { JSON_RPC, type VendorProfile } from "../shared/routes.ts";
import { encodeResult, encodeStep, encodeTask } from "./encode.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { decodeDocument, decodeMethod, ENDPOINTS, ROUTES } from "./routes.ts";

/** Orloj: derived from v0.1, at its own paths. */
export function createOrloj(profile: VendorProfile): Dialect {
  return {
    name: "orloj",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint),
    decode: call => (call.transport === "jsonrpc" ? decodeMethod(call, profile) : decodeDocument(call)),
    encode:
      profile === "strict"
        ? (operation, result) => encodeResult(operation, withoutPush(result))
        : encodeResult,
    replyDialect: () => "orloj",
    encodeStep,
    createEncoder: () => null,
    encodePush: (step, config) => encodeTaskPush(step, config, task => encodeTask(task, false)),
    encodeFault,
    replyHeaders: call => (call.transport === "document" ? CARD_HEADERS : NO_HEADERS),
  };
}

const CARD_HEADERS = { "Cache-Control": "public, max-age=300" };
const NO_HEADERS = {};
