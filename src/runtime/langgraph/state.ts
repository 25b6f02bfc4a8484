/** What the state of a graph, and what it throws, mean for a turn. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";
import {
  type Checkpoint,
  type Graph,
  type GraphConfig,
  type Interrupt,
  isDoneBy,
  type Saver,
  type Snapshot,
} from "./graph.ts";
import { InputRefusal } from "./input.ts";
import { answerIn, messagesIn } from "./messages.ts";
import type { Words } from "./output-writer.ts";

/** `output`: the member that is the answer. Without one it is what the graph made, if it said nothing meanwhile. */
export function resultIn(
  { outputChannels }: Graph,
  values: unknown,
  output: string | undefined,
  hasSpoken: boolean,
): Words | undefined {
  if (output !== undefined) return toWords(isRecord(values) ? values[output] : undefined);
  if (hasSpoken) return undefined;
  if (!isRecord(values)) return toWords(values);
  const text = answerIn(messagesIn(values.messages));
  if (text !== "") return { text };
  const isTold = (name: string): boolean =>
    name !== "messages" && (!Array.isArray(outputChannels) || outputChannels.includes(name));
  const told = Object.entries(values).filter(([name, value]) => isTold(name) && value !== undefined);
  return told.length > 0 ? toWords(Object.fromEntries(told)) : undefined;
}

function toWords(value: unknown): Words | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return { text: value };
  return { data: value as Json, name: "result" };
}

/** The questions that are open, in the order of the graph. A task that is done still tells what it asked before. */
export async function pendingIn(
  { tasks }: Snapshot,
  saver: Saver,
  config: GraphConfig,
): Promise<readonly Interrupt[]> {
  const asking = tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
  if (asking.length === 0) return [];
  const { pendingWrites = [] } = (await saver.getTuple(config)) ?? {};
  const done = new Set(pendingWrites.filter(([, channel]) => isDoneBy(channel)).map(([task]) => task));
  return asking.filter(({ id }) => !done.has(id)).flatMap(({ interrupts = [] }) => interrupts);
}

/** Whether the graph would stop here if it were not told to go on: its author wants that somebody looks. */
export async function isAtBreakpoint(
  { interruptBefore = [], interruptAfter = [] }: Graph,
  next: readonly string[],
  saver: Saver,
  config: GraphConfig,
): Promise<boolean> {
  if (interruptBefore.length === 0 && interruptAfter.length === 0) return false;
  const tuple = await saver.getTuple(config);
  if (!tuple || !hasMoved(tuple.checkpoint)) return false;
  const isBefore = interruptBefore === "*" || next.some(node => interruptBefore.includes(node));
  // Which nodes came last is not told; to ask once more than needed does no harm.
  return isBefore || interruptAfter.length > 0;
}

function hasMoved({ channel_versions, versions_seen }: Checkpoint): boolean {
  const seen = versions_seen.__interrupt__ ?? {};
  return Object.entries(channel_versions).some(
    ([channel, version]) => seen[channel] === undefined || version > (seen[channel] as typeof version),
  );
}

/** Whether a graph was stopped because it took too many steps; in words for the caller. */
export function gaveUp(error: unknown): string | undefined {
  if (!isRecord(error) || error.lc_error_code !== "GRAPH_RECURSION_LIMIT") return undefined;
  const limit = /limit of (\d+)/.exec(String(error.message))?.[1];
  return `The agent gave up after ${limit ?? "too many"} steps`;
}

/** A schema said what is wrong with the input: its caller can put that right. */
export function refusedInput(error: unknown): InputRefusal | undefined {
  if (!isRecord(error) || !Array.isArray(error.issues)) return undefined;
  const [issue] = error.issues as unknown[];
  if (!isRecord(issue) || typeof issue.message !== "string") return undefined;
  const path = Array.isArray(issue.path) ? issue.path.map(String).join(".") : "";
  return new InputRefusal(path === "" ? issue.message : `${path}: ${issue.message}`);
}
