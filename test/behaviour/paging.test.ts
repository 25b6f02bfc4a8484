import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { until } from "../support/client.ts";
import {
  type Loose,
  OFFICIAL_DIALECTS,
  rpcResult,
  startTask,
  untilState,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** docs/dialects/README.md B-R7: a list that is read page by page while its tasks change. */

const folder = tempFolder();
afterAll(() => folder.remove());

/** Histories would only cost time here. */
const SHORT = { historyLength: 0 };

/** Tasks that are created between pages, for all cases together. */
const LATE_MAX = 20;

/** Changes that may happen between two pages. */
type Move =
  | { readonly move: "touch"; readonly task: number }
  | { readonly move: "ask"; readonly task: number }
  | { readonly move: "answer"; readonly task: number }
  | { readonly move: "new" };
const anyTask = fc.nat(19);
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ move: fc.constant("touch" as const), task: anyTask }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant("ask" as const), task: anyTask }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant("answer" as const), task: anyTask }) },
  { weight: 1, arbitrary: fc.constant({ move: "new" as const }) },
);
/** Between each page and the next: some changes. */
const anyPlan = fc.record({
  pageSize: fc.integer({ min: 1, max: 9 }),
  moves: fc.array(fc.array(anyMove, { maxLength: 6 }), { minLength: 1, maxLength: 12 }),
});

describe.each([
  ["memory", ":memory:"],
  ["SQLite", folder.path],
])("on %s", (_, data) => {
  const puppet = createScriptedAgent();
  let server: TestServer;
  let url: string;
  const ids: string[] = [];
  const waiting = new Set<string>();
  let late = 0;

  beforeAll(async () => {
    server = await serve([echo, puppet.definition], { data });
    url = `${server.url}/agents/puppet`;
    for (let i = 0; i < 20; i++) ids.push((await startTask(url, V1, `task ${i}`)).id);
    for (const id of ids) await untilState(url, id, "working");
  });
  afterAll(() => server.stop());

  async function make(move: Move): Promise<void> {
    if (move.move === "new") {
      if (late++ < LATE_MAX) await startTask(url, V1, "late");
      return;
    }
    const id = ids[move.task] as string;
    if (waiting.has(id)) await answer(id);
    else if (move.move === "touch") puppet.send(id, ctx => ctx.status("moved"));
    else if (move.move === "ask") {
      waiting.add(id);
      puppet.send(id, ctx => ctx.ask("Well?"));
      await until(
        async () => V1.stateOf(await rpcResult(url, "GetTask", { id, ...SHORT })) === "input-required",
      );
    }
  }

  async function answer(id: string): Promise<void> {
    waiting.delete(id);
    const configuration = { ...V1.nonBlocking, ...SHORT };
    await rpcResult(url, "SendMessage", V1.sendParams("so", { taskId: id }, { configuration }));
  }

  it.each(OFFICIAL_DIALECTS)(
    "B-R7: however tasks change between pages, none is omitted and none is repeated ($name)",
    async dialect => {
      await fc.assert(
        fc.asyncProperty(anyPlan, async ({ pageSize, moves }) => {
          const there = new Set<string>(await everything(100));
          const seen: string[] = [];
          let pageToken = "";
          for (let page = 0; ; page++) {
            const { tasks, nextPageToken } = await rpcResult(url, dialect.list, {
              pageSize,
              pageToken,
              ...SHORT,
            });
            seen.push(...tasks.map((task: Loose) => task.id));
            if (nextPageToken === "") break;
            pageToken = nextPageToken;
            for (const move of moves[page % moves.length] ?? []) await make(move);
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.filter(id => there.has(id)).length).toBe(there.size);
        }),
        { numRuns: 40 },
      );
    },
  );

  it("B-R7: the pages of an unchanged list are the list", async () => {
    const whole = await everything(100);
    for (const pageSize of [1, 7, 100]) expect(await everything(pageSize)).toEqual(whole);
  });

  it("B-R7: tasks that end between pages are not omitted from a list without a filter", async () => {
    const there = await everything(100);
    const first = await rpcResult(url, "ListTasks", { pageSize: 2 });
    const shown = new Set(first.tasks.map((task: Loose) => task.id));
    const others = ids.filter(id => !shown.has(id)).slice(0, 5);
    for (const id of others) await rpcResult(url, "CancelTask", { id });
    const seen = [...shown];
    for (let pageToken = first.nextPageToken; pageToken !== ""; ) {
      const page = await rpcResult(url, "ListTasks", { pageSize: 2, pageToken });
      seen.push(...page.tasks.map((task: Loose) => task.id));
      pageToken = page.nextPageToken;
    }
    expect(seen.toSorted()).toEqual(there.toSorted());
  });

  async function everything(pageSize: number): Promise<string[]> {
    const found: string[] = [];
    let pageToken = "";
    do {
      const page = await rpcResult(url, "ListTasks", { pageSize, pageToken, ...SHORT });
      found.push(...page.tasks.map((task: Loose) => task.id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return found;
  }
});

it("B-R7: a page token is valid after a restart", async () => {
  const other = tempFolder();
  let server = await serve([echo], { data: other.path });
  try {
    for (let i = 0; i < 5; i++) await rpcResult(server.url, "SendMessage", V1.sendParams(`${i}`));
    const first = await rpcResult(server.url, "ListTasks", { pageSize: 2 });
    await server.stop();
    server = await serve([echo], { data: other.path });
    const { nextPageToken: pageToken } = first;
    const rest = await rpcResult(server.url, "ListTasks", { pageSize: 100, pageToken });
    const ids = [...first.tasks, ...rest.tasks].map((task: Loose) => task.id);
    expect(new Set(ids).size).toBe(5);
    expect(rest.nextPageToken).toBe("");
  } finally {
    await server.stop();
    other.remove();
  }
});
