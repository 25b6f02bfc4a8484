/** Tasks, events and cards as the dialects say them. */
import type { Json, JsonObject } from "../lib/json.ts";
import { Fault, isSettled, type Step, type Task } from "../model/index.ts";
import type { Agent, Dialect } from "../ports/index.ts";
import type { DialectFrame, DialectInfo, DialectView, FrameRow } from "./api.ts";

/** The dialects that are served, with their titles, in the order in which they are shown. */
export interface TitledDialect extends DialectInfo {
  readonly dialect: Dialect;
}

/**
 * `titles`: by name, in the order in which dialects are shown. Dialects without JSON-RPC show turns and not tasks, and
 * their frames depend on each other.
 */
export const toTitled = (
  dialects: readonly Dialect[],
  titles: Readonly<Record<string, string>>,
): readonly TitledDialect[] => {
  const order = Object.keys(titles);
  return dialects
    .filter(({ routes }) => routes.some(({ transport }) => transport === "jsonrpc"))
    .map(dialect => ({ name: dialect.name, title: titles[dialect.name] ?? dialect.name, dialect }))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
};

/** The whole task, as the response to a get. */
export function toDialectView(
  { name, title, dialect }: TitledDialect,
  task: Task,
  agent: Agent | undefined,
): DialectView {
  if (!agent) return { name, title, task: null, problem: `The agent ${task.agent} is not served` };
  try {
    const operation = { op: "get", agent: task.agent, taskId: task.id, view: { artifacts: true } } as const;
    return { name, title, task: dialect.encode(operation, { kind: "task", task, agent }), problem: null };
  } catch (error) {
    if (error instanceof Fault) return { name, title, task: null, problem: error.message };
    throw error;
  }
}

export function toFrameRow(step: Step, dialects: readonly TitledDialect[]): FrameRow {
  const isClosing = step.event?.type === "status" && isSettled(step.event.state);
  const frames = dialects.map(({ name, dialect }) => [name, toFrame(dialect, step, isClosing)]);
  return { seq: step.seq, at: step.at, byDialect: Object.fromEntries(frames) };
}

/** As in a stream over JSON-RPC, for a call with the id 1. */
function toFrame(dialect: Dialect, step: Step, isClosing: boolean): DialectFrame | null {
  const encoded = dialect.encodeStep(step, isClosing, undefined);
  if (!encoded) return null;
  const { event = null, data, bare } = encoded;
  return { event, data: bare ? data : inEnvelope(dialect, data) };
}

const inEnvelope = ({ envelope }: Dialect, result: Json): JsonObject =>
  envelope.idInFrames ? { jsonrpc: "2.0", id: 1, result } : { jsonrpc: "2.0", result };
