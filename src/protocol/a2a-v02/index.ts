import type { FaultCode } from "../../model/index.ts";
import type { Dialect, Operation, ReplyContext, WireCall } from "../../ports/index.ts";
import { encodeV03Fault } from "../shared/faults.ts";
import { createReplyHeaders, readVersion } from "../shared/headers.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { decodeMethod, JSON_RPC } from "../shared/routes.ts";
import { encodeV03Step, encodeV03Task } from "../shared/v03-encode.ts";
import { encodeResult } from "./encode.ts";
import { FAULTS } from "./faults.ts";
import {
  EXTENDED_CARD,
  isForeignMethod,
  METHODS,
  OWN_ENDPOINTS,
  ROUTES,
  SHARED_ENDPOINTS,
} from "./routes.ts";

export interface V02Options {
  readonly versionPolicy: "lenient" | "strict";
}

/** A2A 0.2: v0.3 except for its cards. Its clients send no version, so v0.3 answers most of them. */
export function createV02(options: V02Options): Dialect {
  const isStrict = options.versionPolicy === "strict";
  return {
    name: "v02",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims(call) {
      if (OWN_ENDPOINTS.has(call.endpoint)) return true;
      if (!SHARED_ENDPOINTS.has(call.endpoint) || readVersion(call) !== "0.2") return false;
      return call.transport === "document" || isStrict || !isForeignMethod(call.method);
    },
    decode: call =>
      call.transport === "document" ? decodeDocument(call) : decodeMethod(call, METHODS, "v0.2"),
    encode: encodeResult,
    replyDialect: () => "v02",
    encodeStep(step, closing) {
      const data = encodeV03Step(step, closing);
      return data && { data };
    },
    createEncoder: () => null,
    encodePush: (step, config) => encodeTaskPush(step, config, encodeV03Task),
    encodeFault: ({ code, message }, call) =>
      encodeV03Fault({ code: toV02Code(code, call), message }, call, FAULTS),
    replyHeaders: createReplyHeaders("0.2"),
  };
}

function decodeDocument(call: WireCall): Operation {
  const agent = call.vars.agent as Operation["agent"];
  if (call.method === EXTENDED_CARD) return { op: "extended-card", agent, base: call.base() };
  return { op: "card", agent, base: call.base(), form: "v02" };
}

/** v0.2 §7.10: the path of an extended card that does not exist answers 404. */
const toV02Code = (code: FaultCode, call: ReplyContext): FaultCode =>
  code === "unsupported-operation" && call.method === EXTENDED_CARD ? "extended-card-not-configured" : code;
