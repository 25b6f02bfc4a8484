import { Fault } from "../../model/index.ts";
import type { Dialect, Operation, ReplyContext, WireCall } from "../../ports/index.ts";
import { type GrpcAt, rejectAssistantId } from "../shared/card.ts";
import { toErrorDetails } from "../shared/error-details.ts";
import { encodeV03Fault } from "../shared/faults.ts";
import { readVersion, SUPPORTED_VERSIONS } from "../shared/headers.ts";
import { encodeTaskPush } from "../shared/push-payload.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { encodeV03Step, encodeV03Task } from "../shared/v03-encode.ts";
import { TASK_METHODS } from "../shared/v03-routes.ts";
import { encodeResult, toProtoResponse } from "./encode.ts";
import { FAULTS } from "./faults.ts";
import { decodeGrpc, decodeJsonRpc, decodeRest, ROUTES } from "./routes.ts";
import { PROTO_FORM, V03_SCHEMA } from "./schema.ts";

export interface V03Options {
  readonly versionPolicy: "lenient" | "strict";
  /** The address of gRPC in cards; undefined: gRPC is off. */
  readonly grpcAt?: GrpcAt;
}

const ENDPOINTS = toEndpoints(ROUTES);
const GRPC_ENDPOINT = `grpc:${V03_SCHEMA.package}`;

/** A2A 0.3; it also claims the calls that name no version and no method of another one. */
export function createV03(options: V03Options): Dialect {
  return {
    name: "v03",
    routes: ROUTES,
    faults: FAULTS,
    // Both official servers answer a refused call without an id.
    envelope: { ...JSON_RPC, withoutId: "faults" },
    signsCards: true,
    claims: call => ENDPOINTS.has(call.endpoint) || call.endpoint === GRPC_ENDPOINT,
    decode(call) {
      if (call.transport === "document") return decodeCard(call);
      if (options.versionPolicy === "strict" && readVersion(call) === "1.0")
        throw new Fault(
          "version-not-supported",
          `"${call.method}" is not a method of v1.0; supported versions: ${SUPPORTED_VERSIONS.join(", ")}`,
        );
      if (call.transport === "grpc") return decodeGrpc(call);
      return call.transport === "rest" ? decodeRest(call) : decodeJsonRpc(call);
    },
    encode: (operation, result) => encodeResult(operation, result, options.grpcAt),
    replyDialect: (call, origin) => (isSharedMethod(call, origin) && OLDER.has(origin) ? origin : "v03"),
    encodeStep(step, closing, form) {
      const data = encodeV03Step(step, closing);
      return data && { data: form === PROTO_FORM ? toProtoResponse(data) : data };
    },
    createEncoder: () => null,
    encodePush: (step, config) => encodeTaskPush(step, config, encodeV03Task),
    encodeFault(fault, call) {
      const encoded = encodeV03Fault(fault, call, FAULTS);
      const { rpc: code, message } = encoded;
      if (call.transport === "rest") return { ...encoded, body: { code, message } };
      // The official client 1.3.0 makes typed errors of them when it speaks 0.3.
      return call.transport === "grpc" ? { ...encoded, data: toErrorDetails(fault) } : encoded;
    },
    replyHeaders: (_call, active) =>
      active.length > 0 ? { ...VERSION, "X-A2A-Extensions": active.join(", ") } : VERSION,
  };
}

/**
 * R7: methods that older versions have as well. Their callers expect the shape of the version that created the task.
 * They name no version, or 1.0, which does not have these methods: the document of simple_a2a allows it, and 0.3 as well,
 * at `/`.
 */
function isSharedMethod(call: ReplyContext, origin: string): boolean {
  if (!Object.hasOwn(TASK_METHODS, call.method)) return false;
  const version = readVersion(call);
  return (
    version === undefined ||
    version === "1.0" ||
    (version === "0.3" && call.endpoint === "/" && origin === "simple")
  );
}
const OLDER: ReadonlySet<string> = new Set(["v01", "v02", "simple"]);

function decodeCard(call: WireCall): Operation {
  rejectAssistantId(call);
  return { op: "card", agent: call.vars.agent as Operation["agent"], base: call.base(), form: "v03" };
}

const VERSION = { "A2A-Version": "0.3" };
