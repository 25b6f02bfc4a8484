import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { LANGGRAPH_SENTENCES, type Sentence } from "../support/langgraph-sentences.ts";
import { serve, type TestServer } from "../support/server.ts";
import { VENDOR_SENTENCES } from "../support/vendor-sentences.ts";

/** Sentences of the vendors' documents, each tried by default and in `strict`: docs/dialects/README.md counts them. */

const AGENTS: readonly AgentDefinition[] = [
  { name: "echo", run: task => task.text },
  { name: "asker", run: (task, ctx) => (task.turn === 1 ? ctx.ask("Where?") : `To ${task.text}`) },
  { name: "silent", streaming: false, push: false, run: task => task.text },
  {
    name: "thrower",
    run: () => {
      throw new Error("a secret");
    },
  },
];

const STRICT = { langgraph: "strict", orloj: "strict", arbiter: "strict", simple: "strict" } as const;

describe.each([
  ["by default", {}, "on"],
  ["in strict", STRICT, "strict"],
] as const)("%s", (_name, settings, profile) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serve(AGENTS, settings);
  });
  afterAll(() => server.stop());

  it.each([...LANGGRAPH_SENTENCES, ...VENDOR_SENTENCES])("$statement $text", async (sentence: Sentence) => {
    const { request, expected } = sentence;
    const { path, body, headers, verb = "POST" } = request;
    const response = await fetch(`${server.url}${path}`, {
      method: verb,
      headers: { "Content-Type": "application/json", Accept: "application/json", ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const seen = { status: response.status, type: response.headers.get("content-type"), text };
    const holds = expected(seen, text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined);
    const differs = profile === "on" && sentence.differs === true;
    expect([holds, text]).toEqual([!differs, text]);
  });
});
