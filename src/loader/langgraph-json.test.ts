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
  const short = (lines: readonly string[]) =>
    lines.map(line => line.replace(`${file}:`, "").replace(/^(?:\d+:)? /, ""));
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
    [{ graphs: [] }, "graphs must be an object"],
    [{ graphs: { a: 7 } }, 'graphs.a must be "./FILE:EXPORT"'],
    [{ graphs: { a: { description: "x" } } }, 'graphs.a must be "./FILE:EXPORT"'],
    [{ graphs: { a: "./a.rb:graph" } }, "graphs.a is not supported: ./a.rb:graph is neither"],
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
    expect([env, warnings, problems]).toEqual([
      {},
      [`env names a file that does not exist: ${join(folder, ".env")}`],
      [],
    ]);
  });
});

const SERVER = {
  names: {},
  off: [],
  auth: undefined,
  app: undefined,
  isAppGuarded: false,
  mountPrefix: undefined,
  configurableHeaders: { includes: undefined, excludes: undefined },
  threadTtl: undefined,
};

test("a file with graphs only changes nothing else", () => {
  const { server, values } = read({ graphs: GRAPHS });
  expect(server).toMatchObject(SERVER);
  expect(Object.keys(values)).toEqual(["agents"]);
});

describe("http", () => {
  test("switches parts of the API off, and A2A everywhere", () => {
    const { server, values, problems } = read({
      graphs: GRAPHS,
      http: { disable_a2a: true, disable_mcp: true, disable_store: true, disable_threads: false },
    });
    expect(problems).toEqual([]);
    expect(server.off).toEqual(["a2a", "mcp", "store"]);
    expect(values).toMatchObject({ a2a: false, mcp: false });
  });

  test("has rules for CORS, headers, an application and a prefix", () => {
    const { server, values, problems } = read({
      graphs: GRAPHS,
      http: {
        app: "./app.ts:app",
        enable_custom_route_auth: true,
        mount_prefix: "/my/api",
        configurable_headers: { includes: ["X-Org", "x-user-*"], exclude: ["X-Secret"] },
        cors: {
          allow_origins: ["https://a.example"],
          allow_origin_regex: "^https://.*\\.example$",
          allow_methods: ["GET"],
          allow_headers: ["X-Org"],
          expose_headers: ["X-Total"],
          allow_credentials: true,
          max_age: 60,
        },
      },
    });
    expect(problems).toEqual([]);
    expect(values).toMatchObject({ cors: ["https://a.example"] });
    expect(server).toMatchObject({
      app: "./app.ts:app",
      isAppGuarded: true,
      mountPrefix: "/my/api",
      configurableHeaders: { includes: ["x-org", "x-user-*"], excludes: ["x-secret"] },
      cors: { methods: ["GET"], headers: ["X-Org"], allowsCredentials: true, maxAgeSeconds: 60 },
    });
  });
});

test("store, checkpointer and auth are read", () => {
  const { server, values, problems } = read({
    graphs: GRAPHS,
    store: {
      index: { dims: 3, embed: "./embed.ts:embed", fields: ["text"] },
      ttl: { default_ttl: 1.5, refresh_on_read: false, sweep_interval_minutes: 10 },
    },
    checkpointer: {
      ttl: { strategy: "keep_latest", default_ttl: 60, sweep_interval_minutes: 5, sweep_limit: 10 },
    },
    auth: {
      path: "./auth.ts:auth",
      disable_studio_auth: true,
      cache: { cache_keys: ["Authorization"], ttl_seconds: 30, max_size: 5 },
    },
  });
  expect(problems).toEqual([]);
  expect(values).toMatchObject({
    items: { dims: 3, embed: "./embed.ts:embed", fields: ["text"], ttlMs: 90_000, refreshOnRead: false },
    auth: "custom",
    authFile: "./auth.ts:auth",
  });
  expect(server).toMatchObject({
    threadTtl: { strategy: "keep_latest", minutes: 60 },
    auth: { isStudioGuarded: true, cache: { headers: ["authorization"], ttlMs: 30_000, entriesMax: 5 } },
  });
});

describe("what is not supported is refused with its line", () => {
  const problemsOf = (text: string): readonly string[] =>
    readLanggraphFile(write("langgraph.json", text)).problems;
  const file = (lines: string): string => `{\n  "graphs": { "agent": "./a.ts:graph" },\n${lines}\n}`;

  test.each<[string, RegExp]>([
    [`  "encryption": { "path": "./e.py:e" }`, /:3: encryption is not supported: .*encrypt the disk/],
    [`  "ui": {}`, /:3: ui is not supported/],
    [
      `  "webhooks": { "url": { "require_htps": true } }`,
      /:3: webhooks\.url\.require_htps is unknown \(did you/,
    ],
    [`  "webhooks": { "headers": { "Host": "x" } }`, /:3: webhooks\.headers must not have the header Host/],
    [
      `  "webhooks": { "headers": { "X-Key": "\${{ env.SECRET }}" } }`,
      /:3: webhooks\.headers may only name variables that begin with LG_WEBHOOK_/,
    ],
    [`  "grahps": {}`, /:3: grahps is unknown \(did you mean "graphs"\?\); remove it/],
    [`  "http": {\n    "logging_headers": {} }`, /:4: http\.logging_headers is not supported/],
    [
      `  "http": {\n    "cors": {\n "allow_orgins": [] } }`,
      /:5: http\.cors\.allow_orgins is unknown \(did you mean/,
    ],
    [`  "http": { "disable_a2a":\n "yes" }`, /:3: http\.disable_a2a must be true or false/],
    [`  "http": 7`, /:3: http must be an object/],
    [
      `  "http": { "app": "./app.py:app" }`,
      /:3: http\.app must be the place of an application in JavaScript/,
    ],
    [`  "http": { "mount_prefix": "api/" }`, /:3: http\.mount_prefix must be a path such as \/api/],
    [
      `  "http": { "cors": { "allow_origin_regex": "(" } }`,
      /allow_origin_regex must be a regular expression/,
    ],
    [`  "auth": { "path": "./auth.py:auth" }`, /:3: auth\.path must be the place of an Auth in JavaScript/],
    [`  "auth": {}`, /auth\.path is missing/],
    [
      `  "store": { "path": "./s.py:s" }`,
      /:3: store\.path is not supported: compile the graph with your store/,
    ],
    [
      `  "store": { "index": { "embed": "cohere:x" } }`,
      /:3: store\.index\.embed must be the place of a function/,
    ],
    [`  "store": { "index": { "dims": 3 } }`, /:3: store\.index needs embed/],
    [`  "checkpointer": {\n"serde": {} }`, /:4: checkpointer\.serde is not supported/],
    [
      `  "checkpointer": { "ttl": { "strategy": "x" } }`,
      /:3: checkpointer\.ttl\.strategy must be "delete" or "keep_latest"/,
    ],
    [`  "env": 7`, /:3: env must be the name of a file/],
  ])("%s", (lines, expected) => {
    const problems = problemsOf(file(lines));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  test("all problems at once, and a syntax error with its line", () => {
    expect(problemsOf(file(`  "ui": {},\n  "encryption": {},\n  "x": 1`))).toHaveLength(3);
    expect(problemsOf(`{\n  "graphs": {\n}`)[0]).toMatch(/:3: invalid JSON: /);
  });
});

test("settings that build images have no effect", () => {
  const { warnings, problems } = read({
    $schema: "https://langgra.ph/schema.json",
    node_version: "20",
    dependencies: ["."],
    dockerfile_lines: [],
    graphs: GRAPHS,
  });
  expect([warnings, problems]).toEqual([[], []]);
});

describe("settings", () => {
  const settings = (words: readonly string[] | undefined, env = {}) =>
    readSettings({ cwd: folder, flags: { agents: words }, env });

  test("come from a langgraph.json that is named, or lies there when no agent is named", async () => {
    const file = write("langgraph.json", { graphs: GRAPHS, env: { DRAGOMAN_PORT: "7" } });
    for (const words of [["langgraph.json"], undefined]) {
      const found = await settings(words);
      expect(found).toMatchObject({ port: 7, agentsFolder: folder, configFiles: [file] });
      expect(found.agents).toMatchObject([{ runtime: "langgraph", name: "agent" }]);
      expect(found.langgraphFile).toMatchObject({ off: [] });
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
