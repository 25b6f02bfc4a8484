import type { Json, JsonObject } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { Answer, Dialect, Operation, ReplyContext, Route, WireCall } from "../../ports/index.ts";
import { checkCardCall, type GrpcAt, writeCardOfficial03 } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { writeFault } from "../shared/kind-fault.ts";
import { SHARED } from "../shared/kind-methods.ts";
import {
  type PushAnswer,
  writeMessage,
  writePage,
  writePush,
  writeStep,
  writeTask,
} from "../shared/kind-write.ts";
import { decodeMethod } from "../shared/methods.ts";
import { toTaskPush } from "../shared/push.ts";
import { endpointsOf } from "../shared/rest.ts";
import { writeSecurityProto03 } from "../shared/security.ts";
import { SPOKEN, versionOf } from "../shared/version.ts";
import { toAnswer, toEnclosed } from "./encode-proto.ts";
import { FAULTS } from "./faults.ts";
import { decodeGrpc } from "./grpc.ts";
import { METHODS } from "./methods.ts";
import { toPushAnswer } from "./push.ts";
import { decodeRest, PROTO, REST_ROUTES } from "./routes.ts";
import { PROTOBUF } from "./schema.ts";

export interface V03Options {
  readonly versionPolicy: "lenient" | "strict";
  /** undefined: gRPC is not spoken. */
  readonly grpcAt?: GrpcAt;
}

const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent-card.json", method: "card" },
  ...REST_ROUTES,
];
const ENDPOINTS = endpointsOf(ROUTES);
const GRPC = `grpc:${PROTOBUF.package}`;

/** The official protocol, version 0.3. A call that names no version and no method of a later one is its own. */
export function createV03(options: V03Options): Dialect {
  return {
    name: "v03",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: true,
    claims: call => ENDPOINTS.has(call.endpoint) || call.endpoint === GRPC,
    decode(call) {
      if (call.transport === "document") return decodeCard(call);
      if (options.versionPolicy === "strict" && versionOf(call) === "1.0")
        throw new Fault(
          "version-not-supported",
          `"${call.method}" is not a method of v1.0; spoken here: ${SPOKEN.join(", ")}`,
        );
      if (call.transport === "grpc") return decodeGrpc(call);
      return call.transport === "rest" ? decodeRest(call) : decodeMethod(call, METHODS, "v0.3");
    },
    encode: (operation, answer) => encode(operation, answer, options.grpcAt),
    replyDialect: (call, origin) => (isShared(call) && OLDER.has(origin) ? origin : "v03"),
    encodeStep(step, closing, form) {
      const data = writeStep(step, closing);
      return data && { data: form === PROTO ? toEnclosed(data) : data };
    },
    encodePush: (step, config) => toTaskPush(step, config, writeTask),
    encodeFault(fault, call) {
      const written = writeFault(fault, call, FAULTS);
      const { rpc: code, message } = written;
      return call.transport === "rest" ? { ...written, body: { code, message } } : written;
    },
    replyHeaders: (_call, active) =>
      active.length > 0 ? { "A2A-Version": "0.3", "X-A2A-Extensions": active.join(", ") } : VERSION_ONLY,
  };
}

/**
 * R7: what generations have in common. Their callers know the shapes of their own tasks, and name no version, or 1.0,
 * which has no such method (simple_a2a's document allows it).
 */
const isShared = (call: ReplyContext): boolean =>
  Object.hasOwn(SHARED, call.method) && [undefined, "1.0"].includes(versionOf(call));
const OLDER: ReadonlySet<string> = new Set(["v01", "v02", "simple"]);

function decodeCard(call: WireCall): Operation {
  checkCardCall(call);
  return { op: "card", agent: call.vars.agent as Operation["agent"], base: call.base(), form: "v03" };
}

const VERSION_ONLY = { "A2A-Version": "0.3" };

function encode(operation: Operation, answer: Answer, grpcAt: GrpcAt | undefined): Json {
  const isProto = operation.form === PROTO;
  if (answer.kind === "push" || answer.kind === "pushes" || answer.kind === "nothing")
    return isProto ? toPushAnswer(answer) : writePush(answer);
  const said = write(answer, grpcAt);
  if (answer.kind === "card" && isProto) return { ...said, ...writeSecurityProto03(answer.security) };
  return isProto ? toAnswer(operation, said) : said;
}

function write(answer: Exclude<Answer, PushAnswer>, grpcAt: GrpcAt | undefined): JsonObject {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task);
    case "message":
      return writeMessage(answer.message);
    case "page":
      return writePage(answer.page);
    case "card":
      return writeCardOfficial03(answer, grpcAt);
    case "agents":
      throw new Error("v0.3 has no word for a list of agents");
  }
}
