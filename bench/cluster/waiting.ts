/**
 * How much work nodes do together whose agents wait, as most agents do: for a model, or another service. Each node has few
 * runs at once, so that no core is busy, and the result is not one of the machine.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../children.ts";
import { type Node, startNode } from "./processes.ts";
import { beginTask, openStreams } from "./streams.ts";

const RUNS_MAX = 8;
const AGENT_MS = 250;
/** Callers of each node: more than it runs at once. */
const CALLERS = 16;
const MEASURE_MS = 4_000;
const WARM_MS = 1_000;

/** Runs per second that all nodes end. */
export async function measureWaiting(count: number, data: string, children: Children): Promise<number> {
  const nodes: Node[] = [];
  try {
    while (nodes.length < count)
      nodes.push(await startNode(children, data, ["--runs-max", String(RUNS_MAX)]));
    const ended: number[] = [];
    const startedAt = performance.now();
    const call = async ({ url }: Node): Promise<void> => {
      while (performance.now() < startedAt + WARM_MS + MEASURE_MS) {
        const { over } = await openStreams(url, [await beginTask(url, `flood 1 ${AGENT_MS}`)]);
        await over;
        ended.push(performance.now() - startedAt);
      }
    };
    await Promise.all(nodes.flatMap(node => Array.from({ length: CALLERS }, () => call(node))));
    const inTime = ended.filter(at => at >= WARM_MS && at < WARM_MS + MEASURE_MS);
    // The next database is used when these nodes are idle.
    await sleep(AGENT_MS);
    return inTime.length / (MEASURE_MS / 1_000);
  } finally {
    await Promise.all(nodes.map(node => children.end(node.child)));
  }
}
