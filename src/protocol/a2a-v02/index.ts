import type { Json } from "../../lib/json.ts";
import type { FaultCode } from "../../model/index.ts";
import type { Answer, Dialect, Operation, ReplyContext, Route, WireCall } from "../../ports/index.ts";
import { addressOf, writeCardExtensible } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { writeFault } from "../shared/kind-fault.ts";
import { writeMessage, writePush, writeStep, writeTask } from "../shared/kind-write.ts";
import { decodeMethod } from "../shared/methods.ts";
import { toTaskPush } from "../shared/push.ts";
import { endpointsOf } from "../shared/rest.ts";
import { versionOf } from "../shared/version.ts";
import { FAULTS } from "./faults.ts";
import { METHODS } from "./methods.ts";

export interface V02Options {
  readonly versionPolicy: "lenient" | "strict";
}

const EXTENDED = "extended-card";
const OWN: readonly Route[] = [
  { transport: "document", verb: "GET", path: "/.well-known/agent.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agent/authenticatedExtendedCard", method: EXTENDED },
  {
    transport: "document",
    verb: "GET",
    path: "/agents/{agent}/agent/authenticatedExtendedCard",
    method: EXTENDED,
  },
];
/** Where later versions are spoken, too: this one is for who names it. */
const SHARED: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent-card.json", method: "card" },
];
const OWN_ENDPOINTS = endpointsOf(OWN);
const SHARED_ENDPOINTS = endpointsOf(SHARED);

/** The official protocol, version 0.2: v0.3 but for its cards. Its clients name no version, so v0.3 mostly answers them. */
export function createV02(options: V02Options): Dialect {
  const isStrict = options.versionPolicy === "strict";
  return {
    name: "v02",
    routes: [...OWN, ...SHARED],
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims(call) {
      if (OWN_ENDPOINTS.has(call.endpoint)) return true;
      if (!SHARED_ENDPOINTS.has(call.endpoint) || versionOf(call) !== "0.2") return false;
      return call.transport === "document" || isStrict || !isForeign(call.method);
    },
    decode(call) {
      if (call.transport === "document") return decodeDocument(call);
      return decodeMethod(call, METHODS, "v0.2");
    },
    encode,
    replyDialect: () => "v02",
    encodeStep(step, closing) {
      const data = writeStep(step, closing);
      return data && { data };
    },
    encodePush: (step, config) => toTaskPush(step, config, writeTask),
    encodeFault: ({ code, message }, call) => writeFault({ code: codeOf(code, call), message }, call, FAULTS),
    replyHeaders: (_call, active) =>
      active.length > 0 ? { "A2A-Version": "0.2", "X-A2A-Extensions": active.join(", ") } : VERSION_ONLY,
  };
}

const VERSION_ONLY = { "A2A-Version": "0.2" };

/** A word of another generation: leniently, the spelling of a method counts more than the version. */
const isForeign = (method: string): boolean =>
  !Object.hasOwn(METHODS, method) && /^[a-z]+\/[a-zA-Z/]+$/.test(method);

function decodeDocument(call: WireCall): Operation {
  const agent = call.vars.agent as Operation["agent"];
  if (call.method === EXTENDED) return { op: "extended-card", agent, base: call.base() };
  return { op: "card", agent, base: call.base(), form: "v02" };
}

/** v0.2 §7.10: where there is no extended card, its path leads nowhere. */
const codeOf = (code: FaultCode, call: ReplyContext): FaultCode =>
  code === "unsupported-operation" && call.method === EXTENDED ? "extended-card-not-configured" : code;

function encode(_operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task);
    case "message":
      return writeMessage(answer.message);
    case "card":
      return { ...writeCardExtensible(answer, addressOf(answer)), protocolVersion: "0.2.6" };
    case "push":
    case "pushes":
    case "nothing":
      return writePush(answer);
    case "page":
    case "agents":
      throw new Error(`v0.2 has no word for a list of ${answer.kind}`);
  }
}
