import type { Json } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { Answer, Dialect, Operation, Route, WireCall } from "../../ports/index.ts";
import { checkCardCall, type GrpcAt, writeCardHybrid, writeCardV1 } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { isWanted, toPush } from "../shared/push.ts";
import { endpointsOf } from "../shared/rest.ts";
import { SPOKEN, versionOf } from "../shared/version.ts";
import { writeMessage, writePage, writePush, writeStep, writeTask } from "./encode.ts";
import { FAULT_TABLES, writeFault } from "./faults.ts";
import { decodeMethod, METHODS } from "./methods.ts";
import { isOlderPath, knowsOwnType, MEDIA_TYPE, OWN_TYPE, REST_ROUTES, toMethodCall } from "./routes.ts";
import { PROTOBUF } from "./schema.ts";

export interface V1Options {
  readonly errorTable: keyof typeof FAULT_TABLES;
  readonly versionPolicy: "lenient" | "strict";
  readonly cardPolicy: "hybrid" | "v1";
  /** undefined: gRPC is not spoken. */
  readonly grpcAt?: GrpcAt;
}

const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents", method: "agents" },
  { transport: "document", verb: "GET", path: "/", method: "agents" },
  ...REST_ROUTES,
];
const ENDPOINTS = endpointsOf(ROUTES);
const GRPC = `grpc:${PROTOBUF.package}`;

/** The official protocol, version 1.0. */
export function createV1(options: V1Options): Dialect {
  const faults = FAULT_TABLES[options.errorTable];

  function decodeDocument(call: WireCall): Operation {
    const agent = call.vars.agent as Operation["agent"];
    if (call.method === "agents") return { op: "agents", agent, base: call.base() };
    checkCardCall(call);
    const form = versionOf(call) === "1.0" ? "v1" : options.cardPolicy;
    return { op: "card", agent, base: call.base(), form };
  }

  return {
    name: "v1",
    routes: ROUTES,
    faults,
    envelope: JSON_RPC,
    signsCards: true,
    claims(call) {
      if (call.endpoint === GRPC) return true;
      if (!ENDPOINTS.has(call.endpoint)) return false;
      const version = versionOf(call);
      const named = version === "1.0" || version === "unknown";
      if (call.transport === "rest") return named || !isOlderPath(call.endpoint);
      // Only this dialect has a list of agents, whatever its reader speaks.
      if (call.transport === "document") return named || version === undefined || call.method === "agents";
      if (version === "unknown") return true;
      // Strictly, a caller that names an older version does not know these methods.
      const older = options.versionPolicy === "strict" && version !== undefined && version !== "1.0";
      if (Object.hasOwn(METHODS, call.method)) return !older;
      return version === "1.0" && !isOlder(call.method);
    },
    decode(call) {
      checkVersion(call, options.versionPolicy);
      if (call.transport === "document") return decodeDocument(call);
      return decodeMethod(call.transport === "rest" ? toMethodCall(call) : call);
    },
    encode: (operation, answer) => encode(operation, answer, options.grpcAt),
    replyDialect: () => "v1",
    encodeStep(step) {
      const data = writeStep(step);
      return data && { data };
    },
    encodePush: (step, config) =>
      isWanted(step, config) ? toPush(writeStep(step), PUSHED_TYPES[options.errorTable]) : null,
    encodeFault: fault => writeFault(fault, faults),
    replyHeaders(call, active) {
      const headers = call.transport === "rest" && knowsOwnType(call.headers) ? WITH_TYPE : VERSION_ONLY;
      return active.length > 0 ? { ...headers, "A2A-Extensions": active.join(", ") } : headers;
    },
  };
}

/** v1 §4.3.3; edition 1.0.0 had no type of its own. */
const PUSHED_TYPES = { "1.0.1": MEDIA_TYPE, "1.0.0": "application/json" } as const;

const VERSION_ONLY = { "A2A-Version": "1.0" };
const WITH_TYPE = { ...VERSION_ONLY, ...OWN_TYPE };

/** The grammar of the versions before: lower-case words with slashes. */
const isOlder = (method: string): boolean => /^[a-z]+\/[a-zA-Z/]+$/.test(method);

function checkVersion(call: WireCall, policy: V1Options["versionPolicy"]): void {
  const version = versionOf(call);
  if (version === "1.0" || call.transport === "document") return;
  if (version !== "unknown" && policy === "lenient") return;
  // v1 §3.6.2: no version means 0.3, which has no such method.
  const spoken = SPOKEN.join(", ");
  const cure =
    version === "unknown" ? "ask for one of them" : "this method needs the header A2A-Version: 1.0";
  throw new Fault("version-not-supported", `The versions spoken here are ${spoken}; ${cure}`, {
    facts: { supportedVersions: spoken },
  });
}

function encode(operation: Operation, answer: Answer, grpcAt: GrpcAt | undefined): Json {
  switch (answer.kind) {
    case "task":
      return operation.op === "send" ? { task: writeTask(answer.task) } : writeTask(answer.task);
    case "message":
      return { message: writeMessage(answer.message) };
    case "page":
      return writePage(answer.page, operation.op === "list" && operation.view.artifacts);
    case "card": {
      const hybrid = operation.op === "card" && operation.form === "hybrid";
      return hybrid ? writeCardHybrid(answer, grpcAt) : writeCardV1(answer, grpcAt);
    }
    case "agents":
      return {
        agents: answer.agents.map(agent => ({
          name: agent.name,
          description: agent.card.description,
          url: `${answer.base}/agents/${agent.name}`,
          card: `${answer.base}/agents/${agent.name}/.well-known/agent-card.json`,
          default: agent.name === answer.fallback,
        })),
      };
    case "push":
      return writePush(answer);
    case "pushes":
      return { configs: answer.configs.map(writePush), nextPageToken: answer.nextPageToken };
    case "nothing":
      return {};
  }
}
