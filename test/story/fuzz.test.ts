import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/lib/json.ts";
import { Fault, type Message, type Part } from "../../src/model/index.ts";
import type { Dialect, WireCall } from "../../src/ports/index.ts";
import { createSendSyntax, decodeSend } from "../../src/protocol/a2a-v1/decode.ts";
import { encodeMessage as writeV1 } from "../../src/protocol/a2a-v1/encode.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { decodeV03Send } from "../../src/protocol/shared/v03-decode.ts";
import { encodeV03Message as writeV03 } from "../../src/protocol/shared/v03-encode.ts";
import { asker, echo, mirror, replier } from "../support/agents.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcResult, V1 } from "../support/official-dialects.ts";
import { expectNoInternals } from "../support/raw.ts";
import { SETTINGS, serve, type TestServer, tempFolder } from "../support/server.ts";

const readV03 = (call: WireCall, params: JsonObject) => decodeV03Send(call, params, "v03");

/** Random input: every response is an envelope or a documented HTTP error. */

const folder = tempFolder();
let server: TestServer;
let taskId: string;
beforeAll(async () => {
  server = await serve([mirror, echo, replier, asker], { data: folder.path });
  taskId = (await rpcResult(server.url, "SendMessage", V1.sendParams("known"))).task.id;
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

/** The allowed error codes; -32603 is not among them. */
const CODES = [
  ...[-32700, -32600, -32601, -32602],
  ...[-32001, -32002, -32003, -32004, -32005, -32007, -32008, -32009],
];
const STATUSES = [200, 204, 400, 404, 405, 408, 413, 431];

async function post(path: string, body: string | Uint8Array, headers: Record<string, string>): Promise<void> {
  const all = { "content-type": "application/json", ...headers };
  const init = { method: "POST", headers: all, body: body as string, signal: AbortSignal.timeout(60_000) };
  const response = await fetch(`${server.url}${path}`, init);
  expect(STATUSES).toContain(response.status);
  const text = await response.text();
  expectEnvelopes(text, response.headers.get("content-type") ?? "", response.status);
  // An error that is only logged is a failure, too.
  expect(server.log.lines.splice(0).filter(line => line.level === "error")).toEqual([]);
}

function expectEnvelopes(text: string, type: string, status: number): void {
  if (status === 204) return expect(text).toBe("");
  const stream = type.startsWith("text/event-stream");
  if (!stream) expect(type).toMatch(/^application\/json/);
  const lines = text.split("\n").filter(line => line.startsWith("data: "));
  for (const one of stream ? lines.map(line => line.slice(6)) : [text]) expectEnvelope(one);
}

function expectEnvelope(text: string): void {
  const reply = JSON.parse(text) as Loose;
  expect(reply.jsonrpc).toBe("2.0");
  expect("id" in reply).toBe(true);
  expect("result" in reply).not.toBe("error" in reply);
  if (!reply.error) return;
  expectNoInternals(text);
  expect(CODES).toContain(reply.error.code);
  expect(reply.error.message).toMatch(/.{5,}/);
}

const anyVersion = fc.constantFrom("1.0", "1.0", "1.0.1", "0.3", "0.3", "", "", "0.2", "9.9", "x");
const anyId = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(1, 0, 1.5, "x", "", null) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const anyPath = fc.constantFrom("/", "/agents/echo", "/agents/mirror/", "/agents/replier", "/agents/asker");
const anyMethod = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...OFFICIAL_DIALECTS.flatMap(methodsOf)) },
  { weight: 1, arbitrary: fc.string() },
);
function methodsOf(official: Loose): string[] {
  const { send, stream, get, list, cancel, subscribe, push, extendedCard } = official;
  return [send, stream, get, list, cancel, subscribe, ...push, extendedCard];
}
/** Any JSON, with words of the protocol more often than at random. */
const WORDS = [
  ...[
    "message",
    "messageId",
    "role",
    "parts",
    "text",
    "data",
    "raw",
    "url",
    "file",
    "kind",
    "metadata",
    "id",
  ],
  ...[
    "taskId",
    "contextId",
    "configuration",
    "historyLength",
    "status",
    "pageSize",
    "__proto__",
    "constructor",
  ],
];
const VALUES = [
  "ROLE_USER",
  "user",
  "message",
  "text",
  "",
  "0",
  "aGk=",
  "https://a.example",
  "\u0000",
  "\ud800",
];
const anyWord = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 5 }));
const anyJson = fc.letrec<{ value: unknown; list: unknown; object: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "json" },
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, 2 ** 53, ...VALUES),
    fc.string({ maxLength: 10 }),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 4, depthIdentifier: "json" }),
  object: fc.dictionary(anyWord, tie("value"), { maxKeys: 5, depthIdentifier: "json" }),
})).value;

describe("calls through a real server", () => {
  it("random bytes are answered", async () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary", maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(bytes, anyVersion, async (body, version) => {
        await post("/", body, { "a2a-version": version });
      }),
      { numRuns: 300 },
    );
  });

  it("random JSON is answered", async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, anyVersion, anyPath, async (json, version, path) => {
        await post(path, JSON.stringify(json), { "a2a-version": version });
      }),
      { numRuns: 300 },
    );
  });

  it("methods with random params are answered", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyMethod,
        anyJson,
        anyId,
        anyVersion,
        anyPath,
        async (method, params, id, version, path) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
          await post(path, body, { "a2a-version": version });
        },
      ),
      { numRuns: 500 },
    );
  });

  it("valid calls with one wrong value are answered", async () => {
    await fc.assert(
      fc.asyncProperty(anyCall(), anyChange, anyVersion, anyPath, async (call, change, version, path) => {
        const extra = {
          "a2a-version": version,
          "last-event-id": String(change.at),
          "a2a-extensions": change.name,
        };
        const headers = /^[\x20-\x7e]*$/.test(change.name) ? extra : { "a2a-version": version };
        await post(path, JSON.stringify(changed(call, change)), headers);
      }),
      { numRuns: 500 },
    );
  });

  it("afterwards every accepted task can be read, in both dialects", async () => {
    for (const path of ["echo", "mirror", "replier", "asker"])
      for (const official of OFFICIAL_DIALECTS) {
        let pageToken = "";
        do {
          const page = await rpcResult(`${server.url}/agents/${path}`, official.list, {
            pageToken,
            pageSize: 100,
          });
          expect(page.tasks.every((task: Loose) => typeof task.id === "string")).toBe(true);
          pageToken = page.nextPageToken;
        } while (pageToken !== "");
      }
  });
});

interface Change {
  readonly at: number;
  readonly how: "replace" | "remove" | "add" | "wrap";
  readonly value: unknown;
  readonly name: string;
}
const anyChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(100),
  how: fc.constantFrom("replace", "remove", "add", "wrap"),
  value: anyJson,
  name: anyWord,
});

function anyCall(): fc.Arbitrary<object> {
  const parts = (official: Loose) =>
    official === V1
      ? [
          { text: "x" },
          { raw: "aGk=", filename: "f" },
          { url: "https://a.example" },
          { data: [1, { a: null }] },
        ]
      : [
          { kind: "text", text: "x" },
          { kind: "file", file: { bytes: "aGk=", name: "f", mimeType: "text/plain" } },
          { kind: "file", file: { uri: "https://a.example" } },
          { kind: "data", data: { a: [1] }, metadata: { b: 1 } },
        ];
  const message = {
    contextId: "c",
    metadata: { a: { b: [1] } },
    extensions: ["urn:x"],
    referenceTaskIds: ["r"],
  };
  const calls = OFFICIAL_DIALECTS.flatMap((official: Loose) => {
    const configuration = { ...official.nonBlocking, historyLength: 3, acceptedOutputModes: ["text/plain"] };
    const sent = () =>
      official.sendParams("x", { ...message, parts: parts(official) }, { configuration, metadata: { m: 1 } });
    const one = () => ({ id: taskId, historyLength: 1, metadata: {} });
    return [
      ...[official.send, official.stream].map(method => () => ({ method, params: sent() })),
      ...[official.get, official.cancel, official.subscribe].map(method => () => ({ method, params: one() })),
      () => ({
        method: official.list,
        params: { contextId: "c", pageSize: 2, pageToken: "", historyLength: 1 },
      }),
    ];
  });
  return fc.constantFrom(...calls).map(make => ({ jsonrpc: "2.0", id: 1, ...make() }));
}

/** All positions in a value: the object or array, and the name or index. */
function placesIn(value: Loose): [Loose, string | number][] {
  if (typeof value !== "object" || value === null) return [];
  const names: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap(name => [[value, name] as [Loose, string | number], ...placesIn(value[name])]);
}

function changed(call: object, change: Change): Loose {
  const copy = structuredClone(call) as Loose;
  const places = placesIn(copy);
  const [holder, name] = places[change.at % places.length] as [Loose, string | number];
  if (change.how === "replace") holder[name] = change.value;
  else if (change.how === "wrap") holder[name] = [holder[name]];
  else if (change.how === "add") holder[Array.isArray(holder) ? holder.length : change.name] = change.value;
  else if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
  return copy;
}

/** The round trip of a codec: an encoded message is decoded with the same meaning. */
const wellFormed = fc.string({ unit: "grapheme", maxLength: 20 });
const notEmpty = wellFormed.filter(text => text !== "");
const id = fc.stringMatching(/^[\w.:/ -]{1,40}$/);
const json = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)) as never);
const object = fc
  .dictionary(wellFormed, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 })
  .map(value => JSON.parse(JSON.stringify(value)) as JsonObject)
  .filter(value => !("data_part_compat" in value || "mediaType" in value || "filename" in value));
const extras = { filename: notEmpty, mediaType: notEmpty, metadata: object };
const bytes = fc.uint8Array({ maxLength: 30 }).map(array => Buffer.from(array).toString("base64"));
const withExtras = (kind: string, content: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Part> =>
  fc.record(
    { kind: fc.constant(kind), ...content, ...extras },
    { requiredKeys: ["kind", ...Object.keys(content)] as never },
  ) as fc.Arbitrary<never>;
const anyPart: fc.Arbitrary<Part> = fc.oneof(
  withExtras("text", { text: wellFormed }),
  withExtras("bytes", { bytes }),
  withExtras("url", { url: fc.webUrl() }),
  withExtras("data", { data: json }),
);
const anyMessage = fc.record(
  {
    messageId: id,
    role: fc.constant("user"),
    parts: fc.array(anyPart, { minLength: 1, maxLength: 4 }),
    taskId: id,
    contextId: id,
    metadata: object,
    extensions: fc.array(wellFormed, { minLength: 1, maxLength: 3 }),
    referenceTaskIds: fc.array(wellFormed, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ["messageId", "role", "parts"] },
) as unknown as fc.Arbitrary<Message>;

const CALL = { headers: {}, vars: {} } as unknown as WireCall;
const V1_SYNTAX = createSendSyntax("v1");
const readV1: ReadSend = (call, params) => decodeSend(call, params, V1_SYNTAX);
type ReadSend = (call: WireCall, params: JsonObject) => { send: Loose };
function there(message: Message, write: (message: Message) => JsonObject, read: ReadSend): Loose {
  const { send } = read(CALL, JSON.parse(JSON.stringify({ message: write(message) })) as JsonObject);
  const { taskId: task, contextId, message: sentMessage } = send;
  return {
    ...sentMessage,
    ...(task !== undefined && { taskId: task }),
    ...(contextId !== undefined && { contextId }),
  };
}
/** v0.3 has no members for some values, and sends them in metadata; docs/dialects/v03.md#differences. */
function toV03(part: Part): Part {
  const { filename, mediaType, metadata, ...rest } = part as Loose;
  if (part.kind === "bytes" || part.kind === "url" || (filename ?? mediaType) === undefined) return part;
  return {
    ...rest,
    metadata: { ...metadata, ...(filename && { filename }), ...(mediaType && { mediaType }) },
  };
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

const hasJsonRpc = ({ routes }: Dialect): boolean => routes.some(route => route.transport === "jsonrpc");

describe("codecs", () => {
  it("decoding any params returns an operation or a refusal, and never throws another error", () => {
    const dialects = createDialects(SETTINGS).filter(hasJsonRpc);
    fc.assert(
      fc.property(anyMethod, anyJson, (method, params) => {
        const call = {
          ...CALL,
          transport: "jsonrpc",
          endpoint: "/",
          query: new URLSearchParams(),
          base: () => "http://localhost",
          method,
          params,
        };
        for (const dialect of dialects) {
          const refusal = thrownBy(() => dialect.decode(call as Loose));
          if (refusal === undefined) continue;
          expect(refusal).toBeInstanceOf(Fault);
          expect(CODES).toContain(dialect.encodeFault(refusal as Fault, call as Loose).rpc);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("a message written in v1 is read in v1 unchanged", () => {
    fc.assert(
      fc.property(anyMessage, message => {
        expect(there(message, writeV1, readV1)).toEqual(message);
      }),
      { numRuns: 500 },
    );
  });

  it("a message written in v0.3 is read in v0.3 with the same meaning", () => {
    fc.assert(
      fc.property(anyMessage, message => {
        const meant = { ...message, parts: message.parts.map(toV03) };
        expect(there(message, writeV03, readV03)).toEqual(meant);
      }),
      { numRuns: 500 },
    );
  });

  it("a message that was converted to v0.3 is unchanged in v1", () => {
    fc.assert(
      fc.property(anyMessage, message => {
        const old = there(message, writeV03, readV03);
        expect(there(old, writeV1, readV1)).toEqual(old);
      }),
      { numRuns: 300 },
    );
  });
});
