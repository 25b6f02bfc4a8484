import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSettings } from "../config/config.ts";
import { StartupError } from "../lib/startup-error.ts";
import { readLanggraphFile } from "./langgraph-json.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-langgraph-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};
const GRAPHS = { agent: "./src/agent.ts:graph" };
/** Without the name of the file that each line begins with. */
const read = (config: unknown) => {
  const file = write("langgraph.json", config);
  const found = readLanggraphFile(file);
  const short = (lines: readonly string[]) => lines.map(line => line.replace(`${file}: `, ""));
  return { ...found, warnings: short(found.warnings), problems: short(found.problems) };
};

describe("graphs", () => {
  test("are agents of the runtime langgraph, in any form that they may have", () => {
    const { values, warnings, problems } = read({
      graphs: {
        ...GRAPHS,
        "with-words": { path: "./b.mjs:default", description: "Knows all" },
        plain: "./c.js",
      },
    });
    expect(values).toEqual({
      agents: [
        { runtime: "langgraph", name: "agent", graph: "./src/agent.ts:graph" },
        { runtime: "langgraph", name: "with-words", graph: "./b.mjs:default", description: "Knows all" },
        { runtime: "langgraph", name: "plain", graph: "./c.js" },
      ],
    });
    expect([warnings, problems]).toEqual([[], []]);
  });

  test.each([
    ["myAgent", "my-agent"],
    ["ReAct Agent!", "re-act-agent"],
    ["RAG", "rag"],
  ])("%s is called %s, and that is told", (key, name) => {
    const { values, warnings } = read({ graphs: { [key]: "./a.ts:graph" } });
    expect(values.agents).toMatchObject([{ name }]);
    expect(warnings).toEqual([`graphs.${key} is served as "${name}": agent names are in lower case`]);
  });

  test.each(["./agent.py:graph", "./agent.py", "my_package.agent:graph"])("%s is Python", path => {
    const { values, warnings, problems } = read({ graphs: { ...GRAPHS, py: path }, python: "./env" });
    const spec = { runtime: "langgraph", name: "py", graph: path, python: "./env" };
    expect(values.agents).toEqual([expect.not.objectContaining({ python: "./env" }), spec]);
    expect([warnings, problems]).toEqual([[], []]);
  });

  test("python is a path", () => {
    const { problems } = read({ graphs: GRAPHS, python: 3 });
    expect(problems[0]).toContain("python must be the path of a program or of a virtual environment");
  });

  test.each([
    [{}, "graphs is missing"],
    [{ graphs: [] }, "graphs is missing"],
    [{ graphs: { a: 7 } }, 'graphs.a must be "./FILE:EXPORT"'],
    [{ graphs: { a: { description: "x" } } }, 'graphs.a must be "./FILE:EXPORT"'],
    [{ graphs: { a: "./a.rb:graph" } }, "no graph can be served\n  graphs.a is ignored"],
    ["[]", "expected an object"],
    ["{ graphs: 1 }", "invalid JSON: "],
  ])("%j is rejected", (config, problem) => {
    expect(read(config).problems[0]).toContain(problem);
  });
});

describe("env", () => {
  test("is a file or an object", () => {
    write(".env", 'KEY=from-file\nQUOTED="a b" # words\n');
    expect(read({ graphs: GRAPHS, env: ".env" })).toMatchObject({
      env: { KEY: "from-file", QUOTED: "a b" },
      files: [join(folder, "langgraph.json"), join(folder, ".env")],
    });
    expect(read({ graphs: GRAPHS, env: { KEY: "here", COUNT: 7 } }).env).toEqual({ KEY: "here", COUNT: "7" });
    expect(read({ graphs: GRAPHS, env: 7 }).problems).toHaveLength(1);
  });

  test("that does not exist is a warning", () => {
    const { env, warnings, problems } = read({ graphs: GRAPHS, env: "./.env" });
    expect([env, warnings, problems]).toEqual([{}, [`env: file not found: ${join(folder, ".env")}`], []]);
  });
});

test("http.disable_a2a and http.cors are options of ours", () => {
  const http = {
    disable_a2a: true,
    cors: { allow_origins: ["https://a.example"], allow_methods: ["GET"] },
    app: "x",
  };
  const { values, warnings } = read({ graphs: GRAPHS, http });
  expect(values).toMatchObject({ langgraph: "off", cors: ["https://a.example"] });
  expect(warnings.map(note => note.split(" ")[0])).toEqual(["http.app", "http.cors.allow_methods"]);
  expect(read({ graphs: GRAPHS, http: { disable_a2a: false } }).values).not.toHaveProperty("langgraph");
  for (const wrong of [7, { disable_a2a: "yes" }, { cors: ["*"] }])
    expect(read({ graphs: GRAPHS, http: wrong }).problems).toHaveLength(1);
});

test("build settings are ignored silently, settings of the server and unknown keys with a warning", () => {
  const { warnings, problems } = read({
    $schema: "https://langgra.ph/schema.json",
    node_version: "20",
    dependencies: ["."],
    dockerfile_lines: [],
    graphs: GRAPHS,
    auth: { path: "./auth.ts:auth" },
    store: { index: {} },
    checkpointer: {},
    grahps: {},
  });
  expect(problems).toEqual([]);
  expect(warnings.map(warning => warning.replace(/: .*/, ""))).toEqual([
    "auth is ignored",
    "store is ignored",
    "checkpointer is ignored",
    'grahps is unknown and ignored (did you mean "graphs"?)',
  ]);
});

describe("settings", () => {
  const settings = (words: readonly string[] | undefined, env = {}) =>
    readSettings({ cwd: folder, flags: { agents: words }, env });

  test("come from a langgraph.json that is named, or lies there when no agent is named", async () => {
    const file = write("langgraph.json", { graphs: GRAPHS, env: { DRAGOMAN_PORT: "7" }, unknown: 1 });
    for (const words of [["langgraph.json"], undefined]) {
      const found = await settings(words);
      expect(found).toMatchObject({ port: 7, agentsFolder: folder, configFiles: [file] });
      expect(found.agents).toMatchObject([{ runtime: "langgraph", name: "agent" }]);
      expect(found.warnings).toEqual([`${file}: unknown is unknown and ignored`]);
    }
    expect(await settings(["other.ts"])).toMatchObject({ agents: ["other.ts"], configFiles: [] });
    expect(await settings(undefined, { DRAGOMAN_PORT: "8" })).toMatchObject({ port: 8 });
    write("dragoman.config.mjs", "export default { port: 9 }");
    expect(await settings(undefined)).toMatchObject({ port: 9, agents: [] });
  });

  test("are refused with all that is wrong", async () => {
    write("langgraph.json", { graphs: { a: 1 }, http: { cors: { allow_origins: ["nonsense"] } } });
    const failure = await settings(undefined).catch(error => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect(failure.problems).toHaveLength(2);
  });
});
