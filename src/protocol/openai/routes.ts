import { BEGINNING, type TaskId } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { invalidField } from "../shared/fields.ts";
import { decodeChat, decodeResponse } from "./decode.ts";
import { parseResponseId } from "./ids.ts";

/** The name of the dialect. */
export const DIALECT = "openai";

// ---- paths ---------------------------------------------------------------------------------------------------

type Path = readonly [verb: "GET" | "POST", path: string, method: string];

const PATHS: readonly Path[] = [
  ["GET", "/models", "models.list"],
  ["GET", "/models/{model}", "models.retrieve"],
  ["POST", "/chat/completions", "chat.completions.create"],
  ["POST", "/responses", "responses.create"],
  ["GET", "/responses/{id}", "responses.retrieve"],
  ["POST", "/responses/{id}/cancel", "responses.cancel"],
  ["GET", "/responses/{id}/input_items", "responses.input_items.list"],
];

/** All agents, and one agent. */
const PREFIXES = ["/v1", "/agents/{agent}/v1"];

export const ROUTES: readonly Route[] = PREFIXES.flatMap(prefix =>
  PATHS.map(([verb, path, method]) => ({ transport: "rest" as const, verb, path: prefix + path, method })),
);

// ---- methods -------------------------------------------------------------------------------------------------

const VIEW = { artifacts: true } as const;

type AgentOf = Operation["agent"];

/** The agent of the path, or that of the task. */
const target = ({ vars }: WireCall): Pick<Operation, "agent" | "choice"> =>
  vars.agent === undefined ? { agent: undefined, choice: "any" } : { agent: vars.agent as AgentOf };

/** The turn is a word of the form. */
function readName({ vars }: WireCall): { readonly taskId: TaskId; readonly turn: string } {
  const { taskId, turn } = parseResponseId(vars.id ?? "");
  return { taskId, turn: turn === undefined ? "" : ` turn:${turn}` };
}

/** Every method, by its name in the official client. `create` streams if the body says so. */
export const METHODS: Readonly<Record<string, (call: WireCall) => Operation>> = {
  "models.list"(call) {
    const agent = call.vars.agent as AgentOf;
    if (agent === undefined) return { op: "agents", agent, base: call.base() };
    return { op: "card", agent, base: call.base(), form: "models" };
  },
  "models.retrieve"(call) {
    const { agent, model } = call.vars;
    const name = agent !== undefined && agent !== model ? `${agent}/${model}` : model;
    return { op: "card", agent: name as AgentOf, base: call.base(), form: "model" };
  },
  "chat.completions.create": decodeChat,
  "responses.create": decodeResponse,
  "responses.retrieve"(call) {
    const { taskId, turn } = readName(call);
    const form = `response${turn}`;
    if (call.query.get("stream") !== "true") return { op: "get", ...target(call), taskId, view: VIEW, form };
    const after = readStartingAfter(call);
    return {
      op: "subscribe",
      ...target(call),
      taskId,
      // The events of a turn are numbered from its first one.
      from: turn === "" ? "snapshot" : BEGINNING,
      until: "terminal",
      ended: "snapshot",
      form: after === undefined ? form : `${form} after:${after}`,
    };
  },
  "responses.cancel"(call) {
    const { taskId, turn } = readName(call);
    return { op: "cancel", ...target(call), taskId, again: "task", form: `response${turn}` };
  },
  "responses.input_items.list"(call) {
    const { taskId, turn } = readName(call);
    return { op: "get", ...target(call), taskId, view: VIEW, form: `items${turn}` };
  },
};

function readStartingAfter({ query }: WireCall): number | undefined {
  const text = query.get("starting_after");
  if (text === null || text === "") return undefined;
  if (!/^\d{1,9}$/.test(text))
    throw invalidField("starting_after", "must be the sequence_number of an event");
  return Number(text);
}
