import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRoutes } from "../../src/http/routes.ts";
import { createDialects } from "../../src/protocol/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { parseExchangeFile } from "../support/corpus.ts";
import type { Loose } from "../support/official-dialects.ts";
import { createJudge, operationsIn } from "../support/openapi.ts";
import { SETTINGS, serve, type TestServer } from "../support/server.ts";
import { methodsOf } from "../support/tidy-tables.ts";

const echo = { name: "echo", run: (task: { text: string }) => task.text };
const OFF = {
  langgraph: "off",
  orloj: "off",
  arbiter: "off",
  simple: "off",
  openai: "off",
  aisdk: "off",
  agui: "off",
  catalog: "off",
} as const;
const DIALECTS = createDialects(SETTINGS);

let server: TestServer;
let api: Loose;
beforeAll(async () => {
  // Without the console, /docs is a page of its own.
  server = await serve([echo], { console: "off" });
  api = await (await fetch(`${server.url}/openapi.json`)).json();
});
afterAll(() => server.stop());

async function documentOf(settings: Partial<ServerSettings>, headers = {}): Promise<Loose> {
  const other = await serve([echo], settings);
  const reply = await fetch(`${other.url}/openapi.json`, { headers });
  await other.stop();
  return reply.json();
}

describe("/openapi.json", () => {
  it("is a valid document of OpenAPI 3.1", async () => {
    expect(await new Validator().validate(structuredClone(api))).toEqual({ valid: true });
    expect(api.openapi).toMatch(/^3\.1\./);
    expect(api.info.version).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
  });

  it.each([
    ["all dialects", {}],
    ["the official dialects", OFF],
    ["the vendors' dialects with the strict profile", { langgraph: "strict", arbiter: "strict" }],
  ] as const)("has every route of the enabled dialects, and no other: %s", async (_, settings) => {
    const dialects = createDialects({ ...SETTINGS, ...settings });
    const routes = dialects.flatMap(({ name, routes }) =>
      routes.map(({ verb, path }) => `${verb} ${path} ${name}`),
    );
    const documented = operationsIn(await documentOf(settings)).flatMap(({ verb, path, operation }) =>
      operation.tags.map((tag: string) => `${verb} ${path} ${tag}`),
    );
    expect(documented.toSorted()).toEqual(routes.toSorted());
  });

  it("describes each operation with its purpose, its parameters and its responses", () => {
    const ids = operationsIn(api).map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    // Generated clients make names of functions and files from it.
    expect(ids.filter((id: string) => id.length > 48 || !/^[a-z]\w+$/.test(id))).toEqual([]);
    expect(ids).toEqual(
      expect.arrayContaining(["getTask", "getTaskOfAgent", "cancelTaskOfTenant", "v1GetTask"]),
    );
    for (const { verb, path, operation } of operationsIn(api)) {
      expect(operation.summary, `${verb} ${path}`).toMatch(/^[A-Z].* /);
      const inPath = (operation.parameters ?? []).filter((one: Loose) => one.in === "path");
      expect(inPath.map((one: Loose) => `{${one.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every((one: Loose) => one.required)).toBe(true);
      expect(operation.responses.default.content["application/json"].schema).toBeDefined();
      const isRefused = operation.summary.includes("refused");
      if (!isRefused) expect(Object.keys(operation.responses)).toContain("200");
      if (verb === "POST" && /message:|^\/$|a2a$/.test(path))
        expect(operation.requestBody.content["application/json"].schema).toBeDefined();
    }
    const known = api.tags.map((tag: Loose) => tag.name);
    expect(known.toSorted()).toEqual(DIALECTS.map(dialect => dialect.name).toSorted());
    expect(known.slice(0, 2)).toEqual(["v1", "v03"]);
  });

  it("has LangGraph's parameters as its document has them: Accept, assistant_id, no version", () => {
    const namesOf = ({ parameters = [] }: Loose): string[] => parameters.map((one: Loose) => one.name);
    const { post } = api.paths["/a2a/{agent}"];
    expect(namesOf(post)).not.toContain("A2A-Version");
    expect(post.parameters.find((one: Loose) => one.name === "Accept")).toMatchObject({
      in: "header",
      required: true,
    });
    const { get } = api.paths["/.well-known/agent-card.json"];
    expect(get.parameters.find((one: Loose) => one.name === "assistant_id")).toMatchObject({ in: "query" });
    expect(namesOf(api.paths["/a2a/{agent}/.well-known/agent-card.json"].get)).toEqual(["agent"]);
  });

  it("has example bodies that match their schemas", () => {
    const judge = createJudge(api);
    const bodies = operationsIn(api).flatMap(
      one => one.operation.requestBody?.content["application/json"] ?? [],
    );
    const examples = bodies.filter((body: Loose) => body.example !== undefined);
    expect(examples.length).toBeGreaterThan(10);
    expect(examples.map((body: Loose) => judge(body.schema, body.example)).filter(Boolean)).toEqual([]);
  });

  it.each(["v1", "v03"])("has an envelope for every method of %s over JSON-RPC", async name => {
    const dialect = DIALECTS.find(one => one.name === name) as (typeof DIALECTS)[number];
    const calls = api.components.schemas[`${name.toUpperCase()}Call`].oneOf;
    const documented = calls.map((call: Loose) => call.properties.method.const);
    expect(documented.toSorted()).toEqual([...(await methodsOf(dialect)).keys()].toSorted());
  });

  it("has the URL at which the caller reached it as its server", async () => {
    expect(api.servers).toEqual([{ url: server.url }]);
    const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/a2a" };
    const { host } = new URL((await documentOf({ trustProxy: true }, forwarded)).servers[0].url);
    const behind = await documentOf({ trustProxy: true }, { ...forwarded, "X-Forwarded-Host": "a.example" });
    expect(host).toMatch(/^127\.0\.0\.1:/);
    expect(behind.servers).toEqual([{ url: "https://a.example/a2a" }]);
    const named = await documentOf({ publicUrl: "https://agents.example/x" });
    expect(named.servers).toEqual([{ url: "https://agents.example/x" }]);
  });

  it.each(["/openapi.json", "/docs", "/docs/"])("%s can be cached and revalidated", async path => {
    const first = await fetch(server.url + path);
    expect(first.status).toBe(200);
    expect(first.headers.get("cache-control")).toBe("public, max-age=60");
    expect(first.headers.get("x-content-type-options")).toBe("nosniff");
    const etag = first.headers.get("etag") as string;
    const again = await fetch(server.url + path, { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await fetch(server.url + path, { method: "HEAD" });
    expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""]);
    const wrong = await fetch(server.url + path, { method: "POST", body: "x" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

// ---- what goes over the wire is what the document says -------------------------------------------------------

interface CorpusAnswer {
  readonly file: string;
  /** The headers of the response. */
  readonly version: string | undefined;
  readonly verb: string;
  readonly path: string;
  readonly status: string;
  /** Each piece of JSON in the response. */
  readonly pieces: readonly unknown[];
  readonly isStream: boolean;
}

/** All responses of the official dialects in the corpus. */
const ANSWERS: readonly CorpusAnswer[] = globSync("{v1,v03}/*.exchange", { cwd: "test/corpus" }).flatMap(
  file => {
    const text = readFileSync(join("test/corpus", file), "utf8");
    const replies = text.split("\n===\n").map(exchange => exchange.split("\n---\n")[1] ?? "");
    return parseExchangeFile(text).exchanges.flatMap(({ request }, at): CorpusAnswer[] => {
      const [head = "", ...body] = (replies[at] as string).split("\n\n");
      if (!request || request.verb === "HEAD" || !/^\d{3}\n/.test(head)) return [];
      const isStream = head.includes("text/event-stream");
      const lines = body.join("\n").match(isStream ? /(?<=^data: ).*$/gm : /^[{[].*$/gm) ?? [];
      const { verb, path } = request;
      const pieces = lines.map(line => JSON.parse(line) as unknown);
      return [
        {
          file,
          version: /(?<=A2A-Version: ).*/.exec(head)?.[0],
          verb,
          path,
          status: head.slice(0, 3),
          pieces,
          isStream,
        },
      ];
    });
  },
);

describe("responses in the corpus match the document", () => {
  const locate = createRoutes(DIALECTS, []);
  const schemaOf = ({ verb, path, status, isStream }: CorpusAnswer): Loose => {
    const route = locate(path.split("?")[0] as string);
    const operation = route && api.paths[route.endpoint]?.[verb.toLowerCase()];
    const { content } = operation?.responses[status] ?? operation?.responses.default ?? {};
    return isStream
      ? content?.["text/event-stream"]?.schema.contentSchema
      : content?.["application/json"]?.schema;
  };
  const transportOf = ({ verb, path }: CorpusAnswer): string | undefined =>
    locate(path.split("?")[0] as string)?.byVerb.get(verb)?.transport;
  const wrongIn = (
    answers: readonly CorpusAnswer[],
    schemaFor: (one: CorpusAnswer) => Loose,
  ): readonly string[] => {
    const judge = createJudge(api);
    return answers.flatMap(one =>
      one.pieces
        .map(value => judge(schemaFor(one) ?? false, value))
        .filter(Boolean)
        .map(why => `${one.file}: ${why}`),
    );
  };

  it("and a member that the document does not name would be found", () => {
    const judge = createJudge(api);
    const part = { $ref: "#/components/schemas/V1Part" };
    expect([judge(part, { text: "a" }), judge(part, { text: "a", url: "b" })]).toEqual([
      "",
      expect.stringMatching(/./),
    ]);
    expect(judge(part, { text: "a", kind: "text" })).toMatch("must NOT have additional properties");
  });

  it("over HTTP+JSON: bodies, streams and errors", () => {
    const answers = ANSWERS.filter(one => transportOf(one) === "rest");
    expect(answers.filter(one => one.isStream).length).toBeGreaterThan(5);
    expect(answers.filter(one => one.status !== "200").length).toBeGreaterThan(20);
    expect(wrongIn(answers, schemaOf)).toEqual([]);
  });

  it("over JSON-RPC, in each dialect", () => {
    const answers = ANSWERS.filter(one => transportOf(one) === "jsonrpc");
    expect(answers.length).toBeGreaterThan(100);
    const reply = ({ version }: CorpusAnswer) => ({
      $ref: `#/components/schemas/${version === "1.0" ? "V1" : "V03"}Reply`,
    });
    expect(wrongIn(answers, reply)).toEqual([]);
  });

  it("as documents", () => {
    const answers = ANSWERS.filter(one => transportOf(one) === "document");
    expect(answers.length).toBeGreaterThan(8);
    expect(wrongIn(answers, schemaOf)).toEqual([]);
  });
});

describe("/docs", () => {
  it("is one page that loads nothing from other hosts, and runs only its own script", async () => {
    const reply = await fetch(`${server.url}/docs`);
    const html = await reply.text();
    expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html).not.toMatch(/https?:\/\/|<script[^>]+src|@import|\son\w+=|style=/);
    const inner = (name: string) =>
      html.match(new RegExp(`(?<=<${name}>)[\\s\\S]*(?=</${name}>)`))?.[0] as string;
    const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };
    expect(files).toContain("web");
    const policy = reply.headers.get("content-security-policy")?.split("; ");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src ${hash(inner("script"))}`);
    expect(policy).toContain(`style-src ${hash(inner("style"))}`);
    expect(policy).toContain("connect-src 'self'");
  });
});
