import { Fault, type FaultCode, type Json } from "../../model/index.ts";
import type { Answer, Dialect, Operation, Route } from "../../ports.ts";
import { addressOf, writeCardV03 } from "../card.ts";
import { JSON_RPC, statusOf } from "../envelope.ts";
import { writeMessage, writePage, writeStep, writeTask } from "../kind-write.ts";
import { SPOKEN, versionOf } from "../version.ts";
import { FAULTS } from "./faults.ts";
import { decodeMethod } from "./methods.ts";

export interface V03Options {
  readonly versionPolicy: "lenient" | "strict";
}

const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent-card.json", method: "card" },
];
const PATHS: ReadonlySet<string> = new Set(ROUTES.map(route => route.path));

/** The official protocol, version 0.3. A call that names no version and no method of a later one is its own. */
export function createV03(options: V03Options): Dialect {
  return {
    name: "v03",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    claims: call => PATHS.has(call.endpoint),
    decode(call) {
      const agent = call.vars.agent as Operation["agent"];
      if (call.transport === "document") return { op: "card", agent, base: call.base(), form: "v03" };
      if (options.versionPolicy === "strict" && versionOf(call) === "1.0")
        throw new Fault(
          "version-not-supported",
          `"${call.method}" is not a method of v1.0; spoken here: ${SPOKEN.join(", ")}`,
        );
      return decodeMethod(call);
    },
    encode,
    voice: () => "v03",
    encodeStep(step, closing) {
      const data = writeStep(step, closing);
      return data && { data };
    },
    encodeFault: ({ code, message }, call) => ({
      code,
      ...FAULTS[code],
      status: statusOf(code, FAULTS),
      message,
      // The official 0.3 clients read the answer to a resubscription only as a stream.
      asStream: call.method === "tasks/resubscribe" && !BEFORE_THE_CALL.has(code),
    }),
    replyHeaders: (_call, active) =>
      active.length > 0 ? { "A2A-Version": "0.3", "X-A2A-Extensions": active.join(", ") } : VERSION_ONLY,
  };
}

/** Said by the HTTP status, whatever was called. */
const BEFORE_THE_CALL: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "unavailable",
]);

const VERSION_ONLY = { "A2A-Version": "0.3" };

function encode(_operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task);
    case "message":
      return writeMessage(answer.message);
    case "page":
      return writePage(answer.page);
    case "card":
      return writeCardV03(answer.agent.card, addressOf(answer));
    case "agents":
      throw new Error("v0.3 has no word for a list of agents");
  }
}
