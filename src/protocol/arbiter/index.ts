import type { Json } from "../../lib/json.ts";
import { Fault, type FaultCode, type Task, textOf } from "../../model/index.ts";
import type { Answer, Dialect, Envelope, Operation, Route, WireCall, WireFault } from "../../ports/index.ts";
import { withoutPush } from "../shared/card.ts";
import { JSON_RPC } from "../shared/envelope.ts";
import { writePage, writePush } from "../shared/kind-write.ts";
import { toTaskPush } from "../shared/push.ts";
import { endpointsOf } from "../shared/rest.ts";
import { versionOf, versionText } from "../shared/version.ts";
import { writeCard, writeStub } from "./card.ts";
import { writeStep, writeTask } from "./encode.ts";
import { FAULTS } from "./faults.ts";
import { agentOf, decodeMethod, decodeRequest, NO_PUSH, REQUEST } from "./methods.ts";
import { writeCanceled, writeEvent, writeRefusal } from "./requests.ts";

/** "strict": exactly what the document says; "on": with what it lacks. */
type Profile = "on" | "strict";

const MOUNT = "/v1/a2a/agents/{agent}";
const STUB = "/.well-known/agent-card.json";
const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: MOUNT, method: "" },
  { transport: "document", verb: "GET", path: `${MOUNT}/agent-card.json`, method: "card" },
  { transport: "rest", verb: "POST", path: "/v1/requests/{id}/cancel", method: "cancel" },
  { transport: "rest", verb: "GET", path: "/v1/requests/{id}/events", method: "events" },
];
const ENDPOINTS = endpointsOf(ROUTES);
/** Where the official dialects have the card of the default agent. */
const STUB_ROUTE: Route = { transport: "document", verb: "GET", path: STUB, method: "card" };

const ENVELOPE: Envelope = { ...JSON_RPC, withoutId: "answer" };

/** Arbiter: calls itself v1.0, and is v0.3 under paths of its own. */
export function createArbiter(profile: Profile): Dialect {
  const isStrict = profile === "strict";
  return {
    name: "arbiter",
    routes: isStrict ? [...ROUTES, STUB_ROUTE] : ROUTES,
    faults: FAULTS,
    envelope: ENVELOPE,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint) || (isStrict && isStub(call)),
    decode(call) {
      if (call.transport === "document") return decodeCard(call);
      if (call.transport === "rest") return decodeRequest(call);
      if (!isSpoken(call)) throw new Fault("version-not-supported", VERSIONS);
      return decodeMethod(call, profile);
    },
    encode: isStrict ? (asked, answer) => encode(asked, withoutPush(answer)) : encode,
    replyDialect: () => "arbiter",
    encodeStep: (step, closing, form) => (form === REQUEST ? writeEvent(step) : writeStep(step, closing)),
    // Of a task at work it tells nothing but the state.
    encodePush: (step, config) => toTaskPush(step, { ...config, events: "status" }, writeTask),
    encodeFault: writeFault,
    replyHeaders: () => VERSION_ONLY,
  };
}

const VERSION_ONLY = { "A2A-Version": "1.0" };

/** Who names a version, or an assistant, means somebody else. */
const isStub = (call: WireCall): boolean =>
  call.endpoint === STUB && versionOf(call) === undefined && !call.query.has("assistant_id");

function decodeCard(call: WireCall): Operation {
  const form = call.endpoint === STUB ? "stub" : "arbiter";
  return { op: "card", agent: agentOf(call), base: call.base(), form };
}

const VERSIONS = "The version spoken here is 1.0; name it in the header A2A-Version, or none";
const isSpoken = (call: WireCall): boolean => [undefined, "1.0", "1"].includes(versionText(call));
const LOST: ReadonlySet<FaultCode> = new Set<FaultCode>(["task-not-found", "task-not-cancelable"]);

function writeFault(fault: { code: FaultCode; message: string }, call: WireCall): WireFault {
  const { code } = fault;
  // After who calls, the version is judged first: whatever else is wrong, this is what is said, and the id was not read yet.
  if (call.transport === "jsonrpc" && code !== "unauthenticated" && !isSpoken(call))
    return { ...numbersOf("version-not-supported"), message: VERSIONS, anonymous: true };
  const message = code === "push-not-supported" ? NO_PUSH : fault.message;
  if (call.transport !== "rest") return { ...numbersOf(code), message };
  return { ...numbersOf(code), message, body: writeRefusal(message, LOST.has(code), call) };
}

/** Whatever can be said in an envelope travels with 200; who is not known does not come that far. */
const numbersOf = (code: FaultCode) => ({
  code,
  ...FAULTS[code],
  status: code === "unauthenticated" ? FAULTS[code].http : 200,
});

function encode(operation: Operation, answer: Answer): Json {
  switch (answer.kind) {
    case "task":
      return encodeTask(operation, answer.task);
    case "page":
      return { ...writePage(answer.page), tasks: answer.page.tasks.map(writeTask) };
    case "card":
      if (operation.op === "card" && operation.form === "stub") return writeStub(answer.base);
      return writeCard(answer, `${answer.base}/v1/a2a/agents/${answer.agent.name}`);
    case "push":
    case "pushes":
    case "nothing":
      return writePush(answer);
    case "message":
    case "agents":
      throw new Error(`Arbiter has no word for ${answer.kind}`);
  }
}

function encodeTask(operation: Operation, task: Task): Json {
  const { status } = task;
  if (operation.form === REQUEST) return writeCanceled(task);
  if (operation.op === "send" && status.broken)
    throw new Fault("invalid-agent-response", textOf(status.message?.parts ?? []), { taskId: task.id });
  return writeTask(task);
}
