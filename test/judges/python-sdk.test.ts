/** The official client for Python and RemoteGraph against this server, and against `langgraph dev`: the same answers. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endChildren, startChild } from "../support/child.ts";
import { until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { installPython, LANGGRAPH_PACKAGES } from "./python.ts";

// Not in a test: installing takes longer than a test may.
const python = installPython("langgraph", LANGGRAPH_PACKAGES) as string;
const reference = installPython("langgraph-dev", ["langgraph-cli[inmem]==0.4.40", "langgraph==1.2.22"]);
const SDK = new URL("python-graphs/sdk.py", import.meta.url).pathname;
const GRAPHS = new URL("python-graphs/graphs.py", import.meta.url).pathname;
const PLANNER = new URL("../../examples/langgraph-python/planner.py", import.meta.url).pathname;

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
  copyFileSync(GRAPHS, join(folder.path, "graphs.py"));
  copyFileSync(PLANNER, join(folder.path, "planner.py"));
  const names = ["counter", "adder", "waiting"].map(name => [name, `./graphs.py:${name}`]);
  const graphs = { planner: "./planner.py:graph", ...Object.fromEntries(names) };
  const config = { dependencies: ["."], graphs, env: { TRAIL: join(folder.path, "trail") } };
  writeFileSync(join(folder.path, "langgraph.json"), JSON.stringify(config));
  writeFileSync(join(folder.path, "ours.json"), JSON.stringify({ ...config, python }));
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const call = async (url: string): Promise<Record<string, unknown>> =>
  JSON.parse((await promisify(execFile)(python, [SDK, url], { timeout: 120_000 })).stdout);

const serveOurs = async (): Promise<string> =>
  (await startChild({ agents: [join(folder.path, "ours.json")], data: join(folder.path, "data") })).url;

describe.skipIf(python === undefined)("the official client for Python", () => {
  test("finds assistants, threads, states, runs and streams of Python graphs", async () => {
    const answers = await call(await serveOurs());
    expect(answers.assistants).toMatchObject({
      names: ["adder", "counter", "planner", "waiting"],
      created_by: "system",
      nodes: ["__start__", "plan", "book", "__end__"],
      schemas: [["a", "b"], ["total"]],
      changed: [2, { a: 1, b: 2 }, 1],
      gone: 404,
      missing: 404,
    });
    expect(answers.threads).toMatchObject({
      empty: [{}, []],
      second: ["one", "turn 1: one", "two", "turn 2: two"],
      history: expect.arrayContaining([["loop", 3, ["count"]]]),
      updated: ["human", "added"],
      old: true,
      found: true,
      gone: 404,
    });
    expect(answers.runs).toMatchObject({
      events: ["messages", "metadata", "updates", "values"],
      text: "Two nights by the sea, and the train back.",
      one_id: 1,
      interrupt: ["Shall I book this?"],
      status: "interrupted",
      tasks: [["book", ["Shall I book this?"]]],
      resumed: "It is booked.",
      joined: "turn 1: later",
      stateless: { total: 3 },
    });
    expect(answers.cancel).toBe("interrupted");
    expect(answers.remote).toMatchObject({
      parts: [["plan"], ["__interrupt__"]],
      next: ["book"],
      answer: "Nothing was booked.",
      stateless: "turn 1: alone",
    });
  });

  test.skipIf(reference === undefined)("gets the same answers from `langgraph dev`", async () => {
    const port = await freePort();
    const program = join(dirname(reference as string), "langgraph");
    const args = ["dev", "--no-browser", "--no-reload", "--port", String(port)];
    const server = spawn(program, args, { cwd: folder.path, stdio: "ignore", detached: true });
    try {
      const url = `http://127.0.0.1:${port}`;
      const isReady = (): Promise<boolean> =>
        fetch(`${url}/ok`).then(
          reply => reply.ok,
          () => false,
        );
      await until(isReady);
      const [ours, theirs] = [await call(await serveOurs()), await call(url)];
      for (const answers of [ours, theirs]) {
        // Before Python 3.12 LangGraph's server cannot describe a TypedDict of typing.
        delete (answers.assistants as { schemas?: unknown }).schemas;
        // Its result has the members of the output schema, ours those of the state.
        delete (answers.runs as { stateless?: unknown }).stateless;
      }
      expect(ours).toEqual(theirs);
    } finally {
      process.kill(-(server.pid as number), "SIGKILL");
    }
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
