/** The API of LangGraph's Agent Server, against the open JavaScript server: CPU time per operation, same graphs. */
import { type GraphServer, REFERENCE, startGraphServers } from "./langgraph/servers.ts";
import { readCpuMs } from "./proc.ts";
import { type Spread, toSpread } from "./ratios.ts";
import { toTable } from "./report.ts";
import type { Tools } from "./run.ts";

interface GraphOperation {
  name: string;
  /** Throws an Error if the answer is wrong. */
  execute(url: string, thread: string): Promise<void>;
}

export interface GraphResult {
  /** By operation and server: microseconds of CPU for each round. */
  costs: Record<string, Record<string, number[]>>;
  problems: string[];
}

/** Dragoman may cost a third. */
const TARGET = 1 / 3;
const CONNECTIONS = 8;
/** What a server does after its answers belongs to them. */
const SETTLE_MS = 300;

async function post(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}
/** The members of the answers that are checked. */
interface Answer {
  thread_id: string;
  count?: number;
  values?: { count?: number };
  length?: number;
}
const json = async (response: Response): Promise<Answer> => (await response.json()) as Answer;

function expect(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`wrong answer: ${what}`);
}

const createThread = async (url: string): Promise<string> =>
  (await json(await post(`${url}/threads`, {}))).thread_id;

const OPERATIONS: GraphOperation[] = [
  {
    name: "thread create + run wait",
    async execute(url) {
      const run = { assistant_id: "steps", input: { count: 0 } };
      const values = await json(await post(`${url}/threads/${await createThread(url)}/runs/wait`, run));
      expect(values.count === 2, JSON.stringify(values));
    },
  },
  {
    name: "stream of 50 message chunks",
    async execute(url) {
      const input = { messages: [{ type: "human", content: "go" }] };
      const run = { assistant_id: "words", input, stream_mode: "messages-tuple" };
      const response = await post(`${url}/threads/${await createThread(url)}/runs/stream`, run);
      const chunks = (await response.text()).match(/^event: messages\r?$/gm)?.length;
      expect(chunks !== undefined && chunks >= 50, `${chunks} chunks`);
    },
  },
  {
    name: "state get",
    async execute(url, thread) {
      const state = await json(await fetch(`${url}/threads/${thread}/state`));
      expect(state.values?.count === 98, JSON.stringify(state));
    },
  },
  {
    name: "history of 100 checkpoints",
    async execute(url, thread) {
      const history = await json(await post(`${url}/threads/${thread}/history`, { limit: 100 }));
      expect(history.length === 100, `${history.length} checkpoints`);
    },
  },
];

export async function runLanggraph({ children, options, print }: Tools): Promise<GraphResult> {
  print(`\nlanggraph: LangGraph's API, durable, against the open server in memory; ${CONNECTIONS} at a time`);
  const result: GraphResult = { costs: {}, problems: [] };
  const servers = await startGraphServers(children, options.folder);
  try {
    for (const operation of OPERATIONS) {
      const threads = await Promise.all(servers.map(prepare));
      for (const [i, server] of servers.entries())
        await turn(operation, server, threads[i] as string, options.warmMs);
      for (let round = 0; round < options.rounds; round++)
        for (const [i, server] of servers.entries()) {
          const cost = await turn(operation, server, threads[i] as string, options.turnMs);
          const costs = (result.costs[operation.name] ??= {});
          (costs[server.label] ??= []).push(cost);
          print(`  ${operation.name}, ${server.label}: ${Math.round(cost)} µs`);
        }
    }
  } catch (error) {
    result.problems.push(`langgraph: ${(error as Error).message}`);
  } finally {
    for (const server of servers) await server.stop();
  }
  return result;
}

/** A thread with 100 checkpoints. */
async function prepare({ url }: GraphServer): Promise<string> {
  const thread = await createThread(url);
  const run = { assistant_id: "loop", input: { count: 0 }, config: { recursion_limit: 200 } };
  await (await post(`${url}/threads/${thread}/runs/wait`, run)).text();
  return thread;
}

/** Microseconds of CPU per operation. */
async function turn(
  { execute }: GraphOperation,
  { url, group }: GraphServer,
  thread: string,
  ms: number,
): Promise<number> {
  const before = readCpuMs(group);
  const end = performance.now() + ms;
  let count = 0;
  const drive = async (): Promise<void> => {
    for (; performance.now() < end; count++) await execute(url, thread);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, drive));
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS));
  return ((readCpuMs(group) - before) * 1_000) / count;
}

export function describeLanggraph({ costs, problems }: GraphResult): string {
  const rows = Object.entries(costs).flatMap(([name, { [REFERENCE]: theirs = [], ...own }]) =>
    Object.entries(own).map(([label, ours]) => {
      const ratios = ours.flatMap((cost, i) => (theirs[i] === undefined ? [] : [cost / theirs[i]]));
      if (ratios.length === 0) return [name, label, "-", "-", "-", "not measured"];
      const ratio = toSpread(ratios);
      const verdict = ratio.median <= TARGET ? "ok" : "above";
      return [name, label, toText(toSpread(ours)), toText(toSpread(theirs)), toText(ratio, 2), verdict];
    }),
  );
  const head = ["operation", "server", "µs", `${REFERENCE} µs`, "ratio", `target ≤ ${TARGET.toFixed(2)}`];
  return [...toTable(head, rows), ...problems].join("\n");
}

const toText = ({ median, lowest, highest }: Spread, digits = 0): string =>
  `${median.toFixed(digits)} [${lowest.toFixed(digits)}..${highest.toFixed(digits)}]`;
