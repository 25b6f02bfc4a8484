import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import * as library from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { ContextId } from "../../model/index.ts";
import type { ContextStorage, GraphAccess, GraphContext } from "../../ports/index.ts";
import { createCheckpointerFactory } from "./checkpointer.ts";
import { CHECKPOINTER } from "./config.ts";
import { type Graph, toGraph } from "./graph.ts";
import { createGraphAccess } from "./graph-access.ts";
import type { CheckpointLibrary } from "./library.ts";

const State = Annotation.Root({
  seen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const createGraph = () =>
  new StateGraph(State)
    .addNode("one", () => ({ seen: ["one"] }))
    .addNode("ask", () => ({ seen: [String(interrupt("Which?"))] }))
    .addEdge(START, "one")
    .addEdge("one", "ask")
    .compile();

const createCheckpointer = createCheckpointerFactory(library as unknown as CheckpointLibrary);
const openAccess = (graph: Graph): GraphAccess =>
  createGraphAccess({ source: graph as never, graph, loadCheckpointer: async () => createCheckpointer });
const contextOf = (storage: ContextStorage, contextId = "thread"): GraphContext => ({
  contextId: contextId as ContextId,
  storage,
  caller: { tenant: "t", principal: "p" } as GraphContext["caller"],
});

async function run(graph: Graph, storage: ContextStorage, runId: string, input: unknown): Promise<void> {
  const checkpointer = createCheckpointer(storage, "thread");
  const configurable = { thread_id: "thread", [CHECKPOINTER]: checkpointer };
  const metadata = { run_id: runId };
  for await (const _ of await graph.stream(input, { configurable, metadata, durability: "sync" } as never));
}

const readAll = async (access: GraphAccess, context: GraphContext) => ({
  state: await access.readState(context, undefined, false),
  history: await access.readHistory(context, { limit: 100 }),
});

test("what one node has kept is as if it were read anew, whatever other nodes change", async () => {
  const graph = toGraph(createGraph());
  const storage = new Conversation().storage;
  const context = contextOf(storage);
  const kept = openAccess(graph);
  const other = openAccess(graph);
  const check = async (count: number): Promise<void> => {
    for (let times = 0; times < 2; times++) {
      const all = await readAll(kept, context);
      expect(all).toEqual(await readAll(openAccess(graph), context));
      expect(all.history).toHaveLength(count);
      for (const { checkpoint } of all.history) {
        const at = { checkpoint_id: String(checkpoint.checkpoint_id) };
        expect(await kept.readState(context, at, false)).toEqual(
          await openAccess(graph).readState(context, at, false),
        );
      }
    }
  };
  await run(graph, storage, "first", { seen: ["in"] });
  await check(3);
  expect((await readAll(kept, context)).state).toMatchObject({
    next: ["ask"],
    interrupts: [{ value: "Which?" }],
  });
  const [newest] = (await readAll(kept, context)).history;
  await createCheckpointer(storage, "thread").putWrites(
    { configurable: newest?.checkpoint as never },
    [["__interrupt__", { id: "1", value: "Which one?" }]],
    String(newest?.tasks[0]?.id),
  );
  await check(3);
  expect((await readAll(kept, context)).state).toMatchObject({ interrupts: [{ value: "Which one?" }] });
  await run(graph, storage, "second", { lg_name: "Command", resume: "blue", goto: [] });
  await check(4);
  await other.updateState(context, undefined, [[{ values: { seen: ["set"] }, as_node: "one" }]]);
  await check(5);
  const [, , old] = (await readAll(kept, context)).history;
  const at = { checkpoint_id: String(old?.checkpoint.checkpoint_id) };
  await other.updateState(context, at, [[{ values: { seen: ["fork"] }, as_node: "one" }]]);
  await check(6);
  await other.deleteRun(context, "second");
  await check(5);
  await other.keepLatest(context);
  await check(1);
});

test("a checkpoint is computed once, and contexts are separate", async () => {
  const read: unknown[] = [];
  const compiled = createGraph();
  const get = (target: object, name: string | symbol): unknown => {
    read.push(name);
    return Reflect.get(target, name, target);
  };
  const graph = toGraph(new Proxy(compiled, { get }));
  const [storage, others] = [new Conversation().storage, new Conversation().storage];
  await run(graph, storage, "first", { seen: ["in"] });
  const access = openAccess(graph);
  await readAll(access, contextOf(storage));
  expect(read).toContain("getStateHistory");
  read.length = 0;
  await readAll(access, contextOf(storage));
  expect(read.filter(name => String(name).startsWith("getState"))).toEqual([]);
  expect(await readAll(access, contextOf(others, "other"))).toMatchObject({
    state: { values: {} },
    history: [],
  });
  const mine = await access.readHistory(contextOf(storage), { limit: 100, metadata: { run_id: "first" } });
  expect(mine).toHaveLength(3);
  expect(await access.readHistory(contextOf(storage), { limit: 2 })).toEqual(mine.slice(0, 2));
});
