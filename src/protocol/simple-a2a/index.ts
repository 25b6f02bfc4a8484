import type { Json } from "../../lib/json.ts";
import { Fault, type FaultCode, isTerminal } from "../../model/index.ts";
import type { Answer, Dialect, Envelope, Operation, Route, WireCall, WireFault } from "../../ports/index.ts";
import { addressOf } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { isWanted, toPush } from "../shared/push.ts";
import { endpointsOf } from "../shared/rest.ts";
import { versionText } from "../shared/version.ts";
import { isOurs } from "./claim.ts";
import { writeCard, writeStep, writeTask } from "./encode.ts";
import { FAULTS } from "./faults.ts";
import { decodeMethod } from "./methods.ts";
import { writePush } from "./push.ts";

/** "strict": exactly what the document says; "on": with what it lacks, beside the official dialects. */
type Profile = "on" | "strict";

const DOCUMENTED: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "document", verb: "GET", path: "/agentCard", method: "card" },
];
const MORE: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
  { transport: "document", verb: "GET", path: "/agents/{agent}/agentCard", method: "card" },
];
const ENVELOPE: Envelope = { ...JSON_RPC, idInFrames: false };

/** The Ruby gem simple_a2a: methods of v0.1 with the parts and ideas of later versions. */
export function createSimple(profile: Profile): Dialect {
  const isStrict = profile === "strict";
  const routes = isStrict ? DOCUMENTED : [...DOCUMENTED, ...MORE];
  const endpoints = endpointsOf(routes);
  return {
    name: "simple",
    routes,
    faults: FAULTS,
    envelope: ENVELOPE,
    signsCards: false,
    claims(call) {
      if (!endpoints.has(call.endpoint)) return false;
      if (call.transport === "document") return call.method === "card";
      return isStrict || isOurs(call);
    },
    decode(call) {
      const agent = call.vars.agent as Operation["agent"];
      if (call.transport === "document") return { op: "card", agent, base: call.base(), form: "simple" };
      if (!isSpoken(call)) throw new Fault("version-not-supported", VERSIONS);
      return decodeMethod(call, profile);
    },
    encode,
    replyDialect: () => "simple",
    encodeStep(step, closing) {
      const data = writeStep(step, closing);
      return data && { data };
    },
    encodePush: (step, config) =>
      isWanted(step, config) ? toPush(writeStep(step, isTerminal(step.task.status.state))) : null,
    encodeFault: writeFault,
    replyHeaders: () => ({}),
  };
}

const VERSIONS =
  "The versions spoken here are 1.0 and 0.3; name one of them in the header A2A-Version, or none";
const isSpoken = (call: WireCall): boolean => [undefined, "1.0", "0.3"].includes(versionText(call));

/** After who calls, the version is judged first: whatever else is wrong with the call, this is what is said, and its id was not read yet. */
function writeFault(fault: { code: FaultCode; message: string }, call: WireCall): WireFault {
  const { code, message } = fault;
  if (code === "unauthenticated") return { code, ...FAULTS[code], status: FAULTS[code].http, message };
  if (call.transport === "document" || isSpoken(call)) return { code, ...FAULTS[code], status: 200, message };
  const wrong = "version-not-supported";
  return { code: wrong, ...FAULTS[wrong], status: 200, message: VERSIONS, anonymous: true };
}

function encode(operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return writeTask(answer.task);
    case "page":
      return answer.page.tasks.map(writeTask);
    case "card":
      // The default agent is called where its card was found.
      return writeCard(answer.agent.card, operation.agent ? addressOf(answer) : `${answer.base}/`);
    case "push":
      return writePush(answer);
    case "pushes":
      return answer.configs.map(writePush);
    case "nothing":
      return null;
    case "message":
    case "agents":
      throw new Error(`simple_a2a has no word for ${answer.kind}`);
  }
}
