import type { JsonObject } from "../../lib/json.ts";
import { Fault, type Task } from "../../model/index.ts";
import type { Dialect, Operation, WireCall } from "../../ports/index.ts";
import { type InterfaceOptions, rejectAssistantId } from "../shared/card.ts";
import { CATALOG_LINKS } from "../shared/catalog-links.ts";
import { readVersion, SUPPORTED_VERSIONS } from "../shared/headers.ts";
import { isPushedStep, toEncodedPush } from "../shared/push-payload.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { encodeResult, encodeStep, encodeTask, extendStep } from "./encode.ts";
import { encodeFault, FAULT_TABLES } from "./faults.ts";
import {
  GENERATIONS,
  LONG_POLL,
  requestsLongPoll,
  withExtension,
  withGeneration,
  withLongPoll,
} from "./long-poll.ts";
import {
  acceptsMediaType,
  decodeMethod,
  isV03Path,
  MEDIA_TYPE,
  METHODS,
  ROUTES,
  toMethodCall,
} from "./routes.ts";
import { V1_SCHEMA } from "./schema.ts";

export interface V1Options extends InterfaceOptions {
  readonly errorTable: keyof typeof FAULT_TABLES;
  readonly versionPolicy: "lenient" | "strict";
  readonly cardPolicy: "hybrid" | "v1";
  /** Whether there are catalogs to which the list of agents links. */
  readonly catalog?: "on" | "off";
}

export const ENDPOINTS = toEndpoints(ROUTES);
export const GRPC_ENDPOINT = `grpc:${V1_SCHEMA.package}`;

/** A2A 1.0. */
export function createV1(options: V1Options): Dialect {
  const faults = FAULT_TABLES[options.errorTable];
  const hasLongPoll = options.v11 === "on";

  function decodeDocument(call: WireCall): Operation {
    const agent = call.vars.agent as Operation["agent"];
    if (call.method === "agents") return { op: "agents", agent, base: call.base() };
    rejectAssistantId(call);
    const form = readVersion(call) === "1.0" ? "v1" : options.cardPolicy;
    return { op: "card", agent, base: call.base(), form };
  }

  return {
    name: "v1",
    routes: ROUTES,
    faults,
    envelope: JSON_RPC,
    signsCards: true,
    claims(call) {
      if (call.endpoint === GRPC_ENDPOINT) return true;
      if (!ENDPOINTS.has(call.endpoint)) return false;
      const version = readVersion(call);
      const named = version === "1.0" || version === "unknown";
      if (call.transport === "rest") return named || !isV03Path(call.endpoint);
      // The list of agents exists in this dialect only: it serves callers of all versions.
      if (call.transport === "document") return named || version === undefined || call.method === "agents";
      if (version === "unknown") return true;
      // With the strict policy, a caller of an older version cannot call the methods of 1.0.
      const isOlder = options.versionPolicy === "strict" && version !== undefined && version !== "1.0";
      if (Object.hasOwn(METHODS, call.method)) return !isOlder;
      return version === "1.0" && !OLDER_METHOD.test(call.method);
    },
    decode(call) {
      checkVersion(call, options);
      if (call.transport === "document") return decodeDocument(call);
      const operation = decodeMethod(call.transport === "rest" ? toMethodCall(call) : call);
      return hasLongPoll ? withLongPoll(operation, call) : operation;
    },
    encode(operation, result) {
      const shown = hasLongPoll ? withExtension(result) : result;
      return encodeResult(
        operation,
        shown,
        options,
        operation.form === GENERATIONS ? encodeNumbered : encodeTask,
      );
    },
    replyDialect: () => "v1",
    encodeStep(step, _closing, form) {
      const data = form === GENERATIONS ? extendStep(step, withGeneration) : encodeStep(step);
      return data && { data, stableTaskFields: true };
    },
    createEncoder: () => null,
    encodePush: (step, config) =>
      isPushedStep(step, config) ? toEncodedPush(encodeStep(step), PUSH_TYPES[options.errorTable]) : null,
    encodeFault: fault => encodeFault(fault, faults),
    replyHeaders(call, active) {
      if (call.method === "agents" && options.catalog === "on") return { ...VERSION, ...CATALOG_LINKS };
      const headers =
        call.transport === "rest" && acceptsMediaType(call.headers) ? VERSION_AND_TYPE : VERSION;
      const extensions = hasLongPoll && requestsLongPoll(call) ? [...active, LONG_POLL] : active;
      return extensions.length > 0 ? { ...headers, "A2A-Extensions": extensions.join(", ") } : headers;
    },
  };
}

const encodeNumbered = (task: Task): JsonObject => withGeneration(encodeTask(task), task);

/** v1 §4.3.3; edition 1.0.0 has no media type of its own. */
export const PUSH_TYPES = { "1.0.1": MEDIA_TYPE, "1.0.0": "application/json" } as const;

const VERSION = { "A2A-Version": "1.0" };
const VERSION_AND_TYPE = { ...VERSION, "Content-Type": MEDIA_TYPE };

/** Methods before 1.0: `tasks/get`. */
const OLDER_METHOD = /^[a-z]+\/[a-zA-Z/]+$/;

function checkVersion(call: WireCall, { versionPolicy: policy, v11 }: V1Options): void {
  const version = readVersion(call);
  if (version === "1.0" || call.transport === "document") return;
  if (version !== "unknown" && policy === "lenient") return;
  // v1 §3.6.2: no version means 0.3, which does not have the methods of 1.0.
  const supportedVersions = [...(v11 === "on" ? ["1.1"] : []), ...SUPPORTED_VERSIONS].join(", ");
  const problem =
    version === "unknown" ? "Unsupported A2A-Version" : "This method needs the header A2A-Version: 1.0";
  throw new Fault("version-not-supported", `${problem}; supported versions: ${supportedVersions}`, {
    facts: { supportedVersions },
  });
}
