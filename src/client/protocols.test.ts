import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../lib/json.ts";
import { type Part, TASK_STATES } from "../model/index.ts";
import { v1 } from "../protocol/a2a-v1/client.ts";
import { v03, v03Proto } from "../protocol/a2a-v03/client.ts";
import { parseAgentAddress } from "./address.ts";
import { chooseEndpoint, readInterfaces } from "./card.ts";
import type { ClientDialect } from "./client-protocol.ts";
import { CLIENT_BINDINGS } from "./protocols.ts";

const PARTS: readonly Part[] = [
  { kind: "text", text: "hi", metadata: { a: [1] } },
  { kind: "bytes", bytes: "YWJj", filename: "a.txt", mediaType: "text/plain" },
  { kind: "url", url: "https://x.example/f", filename: "f" },
  { kind: "data", data: { a: 1 } },
  { kind: "data", data: [1, "two", null] },
  { kind: "data", data: null },
];

/** Responses are wrapped: `{"task": …}`. */
const isWrapped = (name: string): boolean => /1\.0|proto/.test(name);

const DIALECTS: readonly (readonly [string, ClientDialect])[] = [
  ["A2A 1.0", v1],
  ["A2A 0.3", v03],
  ["A2A 0.3 proto", v03Proto],
];

/** The same shapes in both directions: a message that is written can be read. */
describe.each(DIALECTS)("in %s", (name, dialect) => {
  test("reads back every kind of part that it writes", () => {
    const draft = {
      messageId: "m",
      parts: PARTS,
      taskId: "t",
      contextId: "c",
      metadata: { a: 1 },
      extensions: ["https://x.example/e"],
    };
    const { message } = dialect.writeSend(draft);
    const item = dialect.readResponse((isWrapped(name) ? { message } : message) as Json);
    expect(item).toEqual({ kind: "message", message: { ...draft, role: "user" } });
  });

  test("reads every state, and an unknown one as unknown", () => {
    const spell = (state: string) =>
      isWrapped(name) ? `TASK_STATE_${state.toUpperCase().replace("-", "_")}` : state;
    const read = (state: string) => dialect.readTask({ id: "t", status: { state: spell(state) } }).state;
    expect(TASK_STATES.map(read)).toEqual(TASK_STATES);
    expect(read("confused")).toBe("unknown");
  });

  test("sends the thread with the metadata of the call", () => {
    const params = dialect.writeSend({ messageId: "m", parts: PARTS, thread: "one", callMetadata: { b: 2 } });
    expect(params.metadata).toEqual({ b: 2, thread_id: "one" });
  });
});

describe.each(Object.entries(CLIENT_BINDINGS).flatMap(([name, all]) => all.map(one => [name, one] as const)))(
  "in %s",
  (_name, { dialect }) => {
    test("reads or rejects any response", () => {
      const word = fc.constantFrom(
        "task",
        "message",
        "status",
        "artifact",
        "parts",
        "kind",
        "id",
        "statusUpdate",
        "artifactUpdate",
      );
      const { value } = fc.letrec<{ value: Json }>(tie => ({
        value: fc.oneof(
          { depthSize: "small" },
          fc.constantFrom<Json>(null, true, 0, "", "task", "message", "status-update", "artifact-update"),
          fc.array(tie("value")),
          fc.dictionary(word, tie("value")) as fc.Arbitrary<JsonObject>,
        ),
      }));
      fc.assert(
        fc.property(value, json => {
          try {
            expect(["task", "message", "status", "artifact"]).toContain(dialect.readResponse(json).kind);
          } catch (error) {
            expect((error as Error).message).toBe("Not an A2A response");
          }
        }),
      );
    });
  },
);

test("v0.3 responses without kind are recognised by their members", () => {
  const status = { state: "working" };
  const items = [
    { id: "t", status },
    { taskId: "t", status },
    { taskId: "t", artifact: { artifactId: "a", parts: [] } },
    { messageId: "m", parts: [] },
  ];
  expect(items.map(item => v03.readResponse(item).kind)).toEqual(["task", "status", "artifact", "message"]);
});

const rpc = (version: string, url = "http://x/rpc") => ({
  url,
  protocolBinding: "JSONRPC",
  protocolVersion: version,
});

const CARDS: readonly [sentence: string, card: JsonObject, chosen: string][] = [
  [
    "the newest version wins, in any position",
    { supportedInterfaces: [rpc("0.3"), rpc("1.0", "http://x/1")] },
    "A2A 1.0 http://x/1",
  ],
  ["a patch of a version is that version", { supportedInterfaces: [rpc("1.0.1")] }, "A2A 1.0 http://x/rpc"],
  ["a v1 card may offer v0.3 only", { supportedInterfaces: [rpc("0.3.0")] }, "A2A 0.3 http://x/rpc"],
  [
    "a v0.3 card has its address on top",
    { url: "http://x/a", protocolVersion: "0.3.0" },
    "A2A 0.3 http://x/a",
  ],
  ["a card without a version counts as v0.2", { url: "http://x/a" }, "A2A 0.2 http://x/a"],
  [
    "a card with `authentication` is of v0.1",
    { url: "http://x/a", authentication: { schemes: [] } },
    "A2A 0.1 http://x/a",
  ],
  [
    "a card in the shape of v0.3 with version 1.0 is of Arbiter",
    { url: "http://x/a", protocolVersion: "1.0" },
    "Arbiter http://x/a",
  ],
  [
    "simple_a2a has its own list of interfaces",
    { interfaces: [{ type: "json-rpc", url: "http://x/a", version: "1.0" }] },
    "simple_a2a http://x/a",
  ],
  [
    "a hybrid card selects v1",
    { url: "http://x/a", protocolVersion: "0.3.0", supportedInterfaces: [rpc("1.0")] },
    "A2A 1.0 http://x/rpc",
  ],
  [
    "JSON-RPC may be an additional interface",
    {
      url: "http://x/rest",
      preferredTransport: "HTTP+JSON",
      protocolVersion: "0.3.0",
      additionalInterfaces: [{ url: "http://x/j", transport: "JSONRPC" }],
    },
    "A2A 0.3 http://x/j",
  ],
  [
    "an address may be relative to the card",
    { url: "/a2a", protocolVersion: "0.3.0" },
    "A2A 0.3 http://x/a2a",
  ],
];

const ALL = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;

describe("choosing an endpoint", () => {
  test("of a version's transports JSON-RPC is preferred, then HTTP+JSON, then gRPC", () => {
    const at = (protocolBinding: string) => ({ ...rpc("1.0"), protocolBinding });
    const card = { supportedInterfaces: [at("GRPC"), at("HTTP+JSON"), at("JSONRPC"), rpc("0.3")] };
    const found = { url: "http://x/card.json", card };
    expect(chooseEndpoint(found, ALL).transport).toBe("JSONRPC");
    expect(chooseEndpoint(found, ["GRPC", "HTTP+JSON"]).transport).toBe("HTTP+JSON");
    expect(chooseEndpoint(found, ["GRPC"])).toMatchObject({ transport: "GRPC", url: "http://x/rpc" });
  });

  test.each(CARDS)("%s", (_sentence, card, chosen) => {
    const { dialect, url } = chooseEndpoint({ url: "http://x/.well-known/agent-card.json", card }, ALL);
    expect(`${dialect.title} ${url}`).toBe(chosen);
  });

  test.each([
    ["Orloj", "/v1/agent-systems/a/a2a", { authentication: { schemes: [] } }],
    ["Orloj", "/v1/agents/a/a2a", { authentication: { schemes: [] } }],
    ["Arbiter", "/v1/a2a/agents/a", { protocolVersion: "1.0" }],
    ["LangGraph Agent Server", "/a2a/fe096781-5601-53d2-b2f6-0d3403f7e9ca", { protocolVersion: "0.3.0" }],
    ["A2A 0.3", "/a2a/agent", { protocolVersion: "0.3.0" }],
  ])("%s is recognised by the path %s in its card", (title, path, members) => {
    const card = { name: "a", url: `http://x${path}`, ...members };
    expect(chooseEndpoint({ url: "http://x/card.json", card }, ALL).dialect.title).toBe(title);
  });

  test("LangGraph's servers are recognised by the URL of the card", () => {
    const card = { name: "a", url: "http://x/a2a/agent", protocolVersion: "0.3.0" };
    const url = "http://x/.well-known/agent-card.json?assistant_id=agent";
    expect(chooseEndpoint({ url, card }, ALL).dialect.title).toBe("LangGraph Agent Server");
  });

  test("keeps the tenant of the chosen interface", () => {
    const card = { supportedInterfaces: [{ ...rpc("1.0"), tenant: "acme" }] };
    expect(chooseEndpoint({ url: "http://x/card.json", card }, ALL).tenant).toBe("acme");
  });

  test("the error for a card without a supported interface lists what it offers", () => {
    const card = { supportedInterfaces: [{ ...rpc("1.0"), protocolBinding: "GRPC" }] };
    expect(() => chooseEndpoint({ url: "http://x/card.json", card }, ["JSONRPC"])).toThrow(
      "offers GRPC 1.0; this client supports JSONRPC",
    );
    expect(() => chooseEndpoint({ url: "http://x/card.json", card: {} }, ALL)).toThrow("offers no interface");
  });

  test("the preferred interface is not listed twice", () => {
    const same = { url: "http://x/a", transport: "JSONRPC" };
    const card = { url: "http://x/a", additionalInterfaces: [same] };
    expect(readInterfaces({ url: "", card })).toHaveLength(1);
  });
});

const CARD = "/.well-known/agent-card.json";
const ADDRESSES: readonly [address: string, agent: string | undefined, base: string, card: string][] = [
  ["http://h:2024", undefined, "http://h:2024", `http://h:2024${CARD}`],
  ["http://h:2024/", undefined, "http://h:2024", `http://h:2024${CARD}`],
  ["localhost:2024", undefined, "http://localhost:2024", `http://localhost:2024${CARD}`],
  ["https://h/agents/echo/", undefined, "https://h/agents/echo", `https://h/agents/echo${CARD}`],
  ["http://h", "echo", "http://h/agents/echo", `http://h/agents/echo${CARD}`],
  [`http://h${CARD}`, "echo", "http://h/agents/echo", `http://h/agents/echo${CARD}`],
  [`http://h/x${CARD}?a=1`, undefined, "http://h/x", `http://h/x${CARD}?a=1`],
  ["http://h/cards/my.json", undefined, "http://h/cards", "http://h/cards/my.json"],
  ["http://h/agentCard", undefined, "http://h", "http://h/agentCard"],
];

test.each(ADDRESSES)("the address %s (agent %s) means %s", (address, agent, base, card) => {
  const target = parseAgentAddress(address, agent);
  expect([target.base, target.cardUrls[0]]).toEqual([base, card]);
});
