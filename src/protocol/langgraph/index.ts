import type { Json } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { Answer, Dialect, Envelope, Operation, Route, WireCall } from "../../ports/index.ts";
import { withoutPush, writeCardV03 } from "../shared/card.ts";
import { writeMessage, writePush } from "../shared/kind-write.ts";
import { toTaskPush } from "../shared/push.ts";
import type { Profile } from "./decode.ts";
import { writePage, writeStep, writeTask } from "./encode.ts";
import { FAULTS, writeFault } from "./faults.ts";
import { decodeCall } from "./methods.ts";

const CARD = "/.well-known/agent-card.json";
const DOCUMENTED: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/a2a/{agent}", method: "" },
  { transport: "document", verb: "GET", path: CARD, method: "card" },
];
const MORE: readonly Route[] = [
  { transport: "document", verb: "GET", path: `/a2a/{agent}${CARD}`, method: "card" },
];

/** No id is no wish for an answer, and null is no id. */
const ENVELOPE: Envelope = { withoutId: 202, nullId: 202, idInFrames: true };

/** LangGraph's Agent Server (LangSmith Deployment): a part of v0.3 under paths of its own. */
export function createLanggraph(profile: Profile): Dialect {
  return {
    name: "langgraph",
    routes: profile === "strict" ? DOCUMENTED : [...DOCUMENTED, ...MORE],
    faults: FAULTS,
    envelope: ENVELOPE,
    signsCards: false,
    // The card's path is shared with the official dialects: it is this one's if an assistant is named.
    claims: call => (call.endpoint === CARD ? call.query.has(ASSISTANT) : call.endpoint.startsWith("/a2a/")),
    decode: call => (call.transport === "document" ? decodeCard(call) : decodeCall(call, profile)),
    encode: profile === "strict" ? (asked, answer) => encode(asked, withoutPush(answer)) : encode,
    replyDialect: () => "langgraph",
    encodeStep(step, closing) {
      const data = writeStep(step, closing);
      return data && { event: "message", data };
    },
    encodePush: (step, config) => toTaskPush(step, config, writeTask),
    encodeFault: writeFault,
    replyHeaders: (_call, active): Record<string, string> =>
      active.length > 0 ? { "X-A2A-Extensions": active.join(", ") } : {},
  };
}

const ASSISTANT = "assistant_id";

function decodeCard(call: WireCall): Operation {
  const agent = (call.vars.agent ?? call.query.get(ASSISTANT)) as NonNullable<Operation["agent"]>;
  if (agent === "")
    throw new Fault("invalid-params", `${ASSISTANT} must name an agent, by its name or its id`, {
      field: ASSISTANT,
    });
  return { op: "card", agent, base: call.base(), form: "langgraph" };
}

function encode(operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task);
    case "message":
      return writeMessage(answer.message);
    case "page":
      return writePage(answer.page);
    case "card": {
      // Under the name by which it was asked for: callers compare.
      const name = encodeURIComponent(operation.agent ?? answer.agent.name);
      return writeCardV03(answer, `${answer.base}/a2a/${name}`);
    }
    case "push":
    case "pushes":
    case "nothing":
      return writePush(answer);
    case "agents":
      throw new Error("this dialect has no word for a list of agents");
  }
}
