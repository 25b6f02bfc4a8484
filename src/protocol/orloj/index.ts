import type { Json } from "../../lib/json.ts";
import type { Answer, Dialect, Operation, Route } from "../../ports/index.ts";
import { withoutPush } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { toTaskPush } from "../shared/push.ts";
import { writePushOf } from "../shared/type-push.ts";
import { writeCard, writeStep, writeTask } from "./encode.ts";
import { FAULTS, writeFault } from "./faults.ts";
import { decodeMethod, type Profile } from "./methods.ts";

/** An agent is a system there; its older paths say agents. */
const SYSTEM = "/v1/agent-systems/{agent}";
const ALIAS = "/v1/agents/{agent}";
const CARD = "/.well-known/agent-card.json";

const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/a2a", method: "" },
  { transport: "jsonrpc", verb: "POST", path: `${SYSTEM}/a2a`, method: "" },
  { transport: "jsonrpc", verb: "POST", path: `${ALIAS}/a2a`, method: "" },
  { transport: "document", verb: "GET", path: `${SYSTEM}${CARD}`, method: "card" },
  { transport: "document", verb: "GET", path: `${ALIAS}${CARD}`, method: "card" },
];
const PATHS: ReadonlySet<string> = new Set(ROUTES.map(route => route.path));

/** Orloj: a child of v0.1, under paths of its own. */
export function createOrloj(profile: Profile): Dialect {
  return {
    name: "orloj",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => PATHS.has(call.endpoint),
    decode: call =>
      call.transport === "document"
        ? { op: "card", agent: call.vars.agent as Operation["agent"], base: call.base(), form: "orloj" }
        : decodeMethod(call, profile),
    encode: profile === "strict" ? (asked, answer) => encode(asked, withoutPush(answer)) : encode,
    replyDialect: () => "orloj",
    encodeStep: writeStep,
    encodePush: (step, config) => toTaskPush(step, config, task => writeTask(task, false)),
    encodeFault: writeFault,
    replyHeaders: call => (call.transport === "document" ? KEPT : NONE),
  };
}

const KEPT = { "Cache-Control": "public, max-age=300" };
const NONE = {};

function encode(_operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task, answer.agent.card.stateTransitionHistory);
    case "card":
      return writeCard(answer, `${answer.base}${SYSTEM.replace("{agent}", answer.agent.name)}/a2a`);
    case "push":
      return writePushOf(answer);
    case "nothing":
      return null;
    case "message":
    case "page":
    case "agents":
    case "pushes":
      throw new Error(`this dialect has no word for a ${answer.kind}`);
  }
}
