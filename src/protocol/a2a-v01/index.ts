import type { Json } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { Answer, Dialect, Operation, ReplyContext, Route, WireCall } from "../../ports/index.ts";
import { addressOf, writeCardV01 } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { decodeMethod } from "../shared/methods.ts";
import { toTaskPush } from "../shared/push.ts";
import { writePushOf } from "../shared/type-push.ts";
import { versionOf } from "../shared/version.ts";
import { writeStep, writeTask } from "./encode.ts";
import { FAULTS, writeFault } from "./faults.ts";
import { isOwn, METHODS } from "./methods.ts";

export interface V01Options {
  readonly versionPolicy: "lenient" | "strict";
}

const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/.well-known/agent.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent.json", method: "card" },
  { transport: "document", verb: "GET", path: "/.well-known/agent-card.json", method: "card" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/.well-known/agent-card.json", method: "card" },
];
const PATHS: ReadonlySet<string> = new Set(ROUTES.map(route => route.path));

/** The official protocol as it was first published, version 0.1: callers choose the ids of their tasks. */
export function createV01(options: V01Options): Dialect {
  const isStrict = options.versionPolicy === "strict";
  return {
    name: "v01",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims(call) {
      if (!PATHS.has(call.endpoint)) return false;
      if (call.transport === "jsonrpc" && isOwn(call.method)) return true;
      return versionOf(call) === "0.1" && (isStrict || !isLater(call.method));
    },
    decode(call) {
      if (call.transport === "document")
        return { op: "card", agent: call.vars.agent as Operation["agent"], base: call.base(), form: "v01" };
      if (isStrict) checkVersion(call);
      return decodeMethod(call, METHODS, "v0.1");
    },
    encode,
    replyDialect: (call, origin) => (isOfSimple(call, origin) ? origin : "v01"),
    encodeStep: writeStep,
    encodePush: (step, config) => toTaskPush(step, config, task => writeTask(task, false)),
    encodeFault: (fault, call) => writeFault(fault, call.method),
    replyHeaders: (_call, active) =>
      active.length > 0 ? { "A2A-Version": "0.1", "X-A2A-Extensions": active.join(", ") } : VERSION_ONLY,
  };
}

const VERSION_ONLY = { "A2A-Version": "0.1" };

/** simple_a2a asks for configs with the same words: its own are told as it knows them, unless the caller names this version. */
const isOfSimple = (call: ReplyContext, origin: string): boolean =>
  origin === "simple" && call.method === "tasks/pushNotification/get" && versionOf(call) !== "0.1";

/** R4: the words of v0.2 and v0.3. */
const isLater = (method: string): boolean =>
  /^(?:message|agent)\/|^tasks\/(?:list$|pushNotificationConfig\/)/.test(method);

/** Its callers know no version: whoever names another one means another one. */
function checkVersion(call: WireCall): void {
  const version = versionOf(call);
  if (version === undefined || version === "0.1") return;
  throw new Fault("version-not-supported", `"${call.method}" is a method of v0.1; name that version or none`);
}

function encode(operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task": {
      const asked = "view" in operation && operation.view.historyMax !== undefined;
      return writeTask(answer.task, asked);
    }
    case "card":
      return writeCardV01(answer, addressOf(answer));
    case "push":
      return writePushOf(answer);
    case "nothing":
      return null;
    case "message":
    case "page":
    case "agents":
    case "pushes":
      throw new Error(`v0.1 has no word for a ${answer.kind}`);
  }
}
