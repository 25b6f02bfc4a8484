/** Interprets the state and the errors of a graph. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";
import {
  type Checkpoint,
  type Checkpointer,
  type Graph,
  type GraphConfig,
  type GraphInterrupt,
  isCompletedBy,
  type Snapshot,
} from "./graph.ts";
import { InputError } from "./input.ts";
import { findMessages, findResponse } from "./messages.ts";
import type { GraphOutput } from "./task-output.ts";

/** `output`: the member of the state that is the response; without it, the state of a graph that has written no text. */
export function toResultOutput(
  { outputChannels }: Graph,
  values: unknown,
  output: string | undefined,
  hasText: boolean,
): GraphOutput | undefined {
  if (output !== undefined) return toOutput(isRecord(values) ? values[output] : undefined);
  if (hasText) return undefined;
  if (!isRecord(values)) return toOutput(values);
  const text = findResponse(findMessages(values.messages));
  if (text !== "") return { text };
  const isOutput = (name: string): boolean =>
    name !== "messages" && (!Array.isArray(outputChannels) || outputChannels.includes(name));
  const members = Object.entries(values).filter(([name, value]) => isOutput(name) && value !== undefined);
  return members.length > 0 ? toOutput(Object.fromEntries(members)) : undefined;
}

function toOutput(value: unknown): GraphOutput | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return { text: value };
  return { data: value as Json, name: "result" };
}

/** In Python `next` is without nodes that are completed, also if the checkpoint after them is not stored yet. */
export const hasEnded = ({ next, tasks }: Snapshot): boolean => next.length === 0 && tasks.length === 0;

/** In the order of the graph. A completed task still lists its interrupts, so the writes decide. */
export async function findPendingInterrupts(
  { tasks }: Snapshot,
  checkpointer: Checkpointer,
  config: GraphConfig,
): Promise<readonly GraphInterrupt[]> {
  const interrupted = tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
  if (interrupted.length === 0) return [];
  const { pendingWrites = [] } = (await checkpointer.getTuple(config)) ?? {};
  const done = new Set(pendingWrites.filter(([, channel]) => isCompletedBy(channel)).map(([task]) => task));
  return interrupted.filter(({ id }) => !done.has(id)).flatMap(({ interrupts = [] }) => interrupts);
}

/** Whether the author has set a breakpoint here, at which the graph waits for a message. */
export async function isAtBreakpoint(
  { interruptBefore = [], interruptAfter = [] }: Pick<Graph, "interruptBefore" | "interruptAfter">,
  next: readonly string[],
  checkpointer: Checkpointer,
  config: GraphConfig,
): Promise<boolean> {
  if (interruptBefore.length === 0 && interruptAfter.length === 0) return false;
  const tuple = await checkpointer.getTuple(config);
  if (!tuple || !hasMoved(tuple.checkpoint)) return false;
  const isBefore = interruptBefore === "*" || next.some(node => interruptBefore.includes(node));
  // The last nodes are not known; pausing once too often does no harm.
  return isBefore || interruptAfter.length > 0;
}

function hasMoved({ channel_versions, versions_seen }: Checkpoint): boolean {
  const seen = versions_seen.__interrupt__ ?? {};
  return Object.entries(channel_versions).some(
    ([channel, version]) => seen[channel] === undefined || version > (seen[channel] as typeof version),
  );
}

/** The message for the caller; undefined: another error. */
export function toRecursionMessage(error: unknown): string | undefined {
  if (!isRecord(error) || error.lc_error_code !== "GRAPH_RECURSION_LIMIT") return undefined;
  const limit = /limit of (\d+)/.exec(String(error.message))?.[1];
  return `The graph was stopped after ${limit ?? "too many"} steps (recursion limit)`;
}

/** The validation error of a schema, which the caller can fix; undefined: another error. */
export function toInputError(error: unknown): InputError | undefined {
  if (!isRecord(error) || !Array.isArray(error.issues)) return undefined;
  const [issue] = error.issues as unknown[];
  if (!isRecord(issue) || typeof issue.message !== "string") return undefined;
  const path = Array.isArray(issue.path) ? issue.path.map(String).join(".") : "";
  return new InputError(path === "" ? issue.message : `${path}: ${issue.message}`);
}
