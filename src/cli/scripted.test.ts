import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Json, JsonObject } from "../lib/json.ts";
import * as callFile from "./commands/call.ts";
import * as cardFile from "./commands/card.ts";
import * as tailFile from "./commands/tail.ts";
import { run } from "./program.ts";
import { createMemoryTerminal } from "./terminal/memory-terminal.ts";

/** One request to the server. */
interface Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: IncomingMessage["headers"];
}
type Responder = (response: ServerResponse, call: Call) => void;

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server with a card and one responder for each call. */
async function startServer(responders: readonly Responder[], card: (url: string) => JsonObject = toCard) {
  const calls: Call[] = [];
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    paths.push(request.url ?? "");
    if (request.method === "GET" && request.url?.endsWith("/.well-known/agent-card.json"))
      return response.end(JSON.stringify(card(url)));
    if (request.method === "GET") return response.writeHead(404).end("nothing here");
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method, params } = JSON.parse(body) as Call;
    const call = { method, params, headers: request.headers };
    calls.push(call);
    (responders[calls.length - 1] ?? (() => response.destroy()))(response, call);
  }).listen(0, "127.0.0.1");
  opened.push(server);
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, calls, paths };
}

const toCard = (url: string): JsonObject => ({
  name: "scripted",
  capabilities: { streaming: true },
  supportedInterfaces: [
    { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    { url: `${url}/old`, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
});

const ids = { taskId: "t1", contextId: "c1" };
const task = (state: string, more: JsonObject = {}): JsonObject => ({
  task: { id: "t1", contextId: "c1", status: { state: `TASK_STATE_${state}` }, ...more },
});
const status = (state: string, text?: string): JsonObject => {
  const message = { messageId: "s", role: "ROLE_AGENT", parts: [{ text: text ?? "" }] };
  return { statusUpdate: { ...ids, status: { state: `TASK_STATE_${state}`, ...(text && { message }) } } };
};
const chunk = (text: string, append = true): JsonObject => ({
  artifactUpdate: { ...ids, artifact: { artifactId: "a1", parts: [{ text }] }, append },
});

const frame = (result: Json, id?: number) =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`;

/** Streams results with ids from `first` on; then the connection ends, cleanly or not. */
function stream(results: readonly Json[], end: "end" | "destroy", first = 1): Responder {
  return response => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [at, result] of results.entries()) response.write(frame(result, first + at));
    // Flush before the connection breaks.
    if (end === "end") response.end();
    else setTimeout(() => response.destroy(), 20);
  };
}
const plain =
  (body: Json, code = 200): Responder =>
  response =>
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
const refuse = (code: number, message: string, data?: Json): Responder =>
  plain({ jsonrpc: "2.0", id: 1, error: { code, message, ...(data !== undefined && { data }) } });

async function runCommand(
  args: readonly string[],
  parts: { tty?: boolean; input?: string; cwd?: string } = {},
) {
  const terminal = createMemoryTerminal({
    tty: parts.tty === true,
    answers: [],
    input: parts.input ?? "",
    cwd: parts.cwd ?? "/",
    fetch,
    now: () => 0,
  });
  const code = await run(args, [callFile, tailFile, cardFile], terminal);
  return { code, ...terminal.written };
}

test("the message goes to the v1 interface of the card, with the version in a header", async () => {
  const { url, calls, paths } = await startServer([stream([task("COMPLETED")], "end")]);
  await runCommand([
    "call",
    url,
    "hello",
    "world",
    "--context",
    "c9",
    "--data",
    "[1]",
    "--header",
    "X-Key: 7",
  ]);
  expect(paths).toEqual(["/.well-known/agent-card.json", "/rpc"]);
  expect(calls[0]?.method).toBe("SendStreamingMessage");
  expect(calls[0]?.headers).toMatchObject({
    "a2a-version": "1.0",
    "x-key": "7",
    accept: "text/event-stream",
  });
  expect(calls[0]?.params).toEqual({
    message: {
      messageId: "m1",
      role: "ROLE_USER",
      contextId: "c9",
      parts: [{ text: "hello world" }, { data: [1] }],
    },
  });
});

test("a card without v1 is called in v0.3, at its URL", async () => {
  const old = (url: string): JsonObject => ({
    name: "old",
    url: "/a2a",
    protocolVersion: "0.3.0",
    capabilities: { streaming: false },
    description: url,
  });
  const { url, calls, paths } = await startServer([plain({ jsonrpc: "2.0", id: 1, result: V03_TASK })], old);
  const { out } = await runCommand(["call", `${url}/agents/x/`, "hi", "--data", "3", "--task", "t1"]);
  expect(paths).toEqual(["/agents/x/.well-known/agent-card.json", "/a2a"]);
  expect(calls[0]?.method).toBe("message/send");
  expect(calls[0]?.params.message).toEqual({
    kind: "message",
    messageId: "m1",
    role: "user",
    taskId: "t1",
    parts: [
      { kind: "text", text: "hi" },
      { kind: "data", data: { value: 3 }, metadata: { data_part_compat: true } },
    ],
  });
  expect(out).toBe("Hello\n[f, 3 bytes]\n");
});

const V03_TASK: JsonObject = {
  id: "t1",
  contextId: "c1",
  status: { state: "completed" },
  artifacts: [
    {
      artifactId: "a",
      parts: [
        { kind: "text", text: "Hello" },
        { kind: "file", file: { data: "YWJj", name: "f" } },
      ],
    },
  ],
};

test("standard input can be the message", async () => {
  const { url, calls } = await startServer([stream([task("COMPLETED")], "end")]);
  await runCommand(["call", url, "-"], { input: "from a pipe\n" });
  expect(calls[0]?.params.message).toMatchObject({ parts: [{ text: "from a pipe\n" }] });
});

test("a lost stream is resumed after the last event, and nothing is printed twice", async () => {
  const { url, calls } = await startServer([
    stream([task("WORKING"), chunk("one ", false), chunk("two ")], "destroy"),
    stream([chunk("three"), status("COMPLETED")], "end", 4),
  ]);
  const { code, out, err } = await runCommand(["call", url, "count"]);
  expect({ code, out }).toEqual({ code: 0, out: "one two three\n" });
  expect(calls.map(call => call.method)).toEqual(["SendStreamingMessage", "SubscribeToTask"]);
  expect(calls[1]?.headers["last-event-id"]).toBe("3");
  expect(calls[1]?.params).toEqual({ id: "t1" });
  expect(err).toMatch(/^the stream was lost \(other side closed\); retry 1 of 7\n/);
});

test("a server that resumes with snapshots does not cause repeated output", async () => {
  const whole = { artifacts: [{ artifactId: "a1", parts: [{ text: "one " }, { text: "two three" }] }] };
  const { url } = await startServer([
    stream([task("WORKING"), chunk("one ", false), chunk("two ")], "end"),
    stream([task("WORKING", whole), chunk(" four"), status("COMPLETED")], "end"),
  ]);
  expect((await runCommand(["call", url, "count"])).out).toBe("one two three four\n");
});

test("a task that ended during a lost connection is read with GetTask", async () => {
  const whole = { artifacts: [{ artifactId: "a1", parts: [{ text: "one two" }] }] };
  const { url, calls } = await startServer([
    stream([task("WORKING"), chunk("one ", false)], "destroy"),
    refuse(-32004, "it has ended"),
    plain({ jsonrpc: "2.0", id: 1, result: task("COMPLETED", whole).task as Json }),
  ]);
  const { code, out } = await runCommand(["call", url, "count"]);
  expect(calls[2]?.method).toBe("GetTask");
  expect({ code, out }).toEqual({ code: 0, out: "one two\n" });
});

test("a message without any response is not sent again", async () => {
  const { url, calls } = await startServer([response => response.destroy()]);
  const { code, err } = await runCommand(["call", url, "answer", "--task", "t1"]);
  expect(calls).toHaveLength(1);
  expect(code).toBe(1);
  expect(err).toMatch(/^error: http:\S+\/rpc could not be reached/);
});

test("tail sends Last-Event-ID, and continues after a question", async () => {
  const { url, calls } = await startServer([
    stream(
      [status("INPUT_REQUIRED", "How many?"), status("WORKING"), status("CANCELED", "Too late")],
      "end",
      8,
    ),
  ]);
  const { code, out, err } = await runCommand(["tail", url, "t1", "--from", "7"]);
  expect(calls[0]?.headers["last-event-id"]).toBe("7");
  expect({ code, out }).toEqual({ code: 3, out: "How many?\n" });
  expect(err).toBe(`Too late\ntask t1 canceled; read it again: dragoman tail ${url} t1\n`);
});

test("after the timeout the commands to follow and cancel the task are printed", async () => {
  const { url } = await startServer([
    response => response.writeHead(200, SSE).write(frame(task("WORKING"), 4)),
  ]);
  const { code, err } = await runCommand([
    "call",
    url,
    "slow",
    "--timeout",
    "0.1",
    "--header",
    "Authorization: secret",
  ]);
  expect(code).toBe(1);
  expect(err).toBe(
    `Timed out: task t1 is still running\n` +
      `  follow it: dragoman tail ${url} t1 --from 4 --token …\n` +
      `  cancel it: dragoman cancel ${url} t1 --token …\n`,
  );
});
const SSE = { "content-type": "text/event-stream" };

test("control characters of an agent are escaped on a terminal, and unchanged in a pipe", async () => {
  const evil = stream([task("WORKING"), chunk("\u001b]0;title\u0007ok\n"), status("COMPLETED")], "end");
  const { url } = await startServer([evil, evil]);
  expect((await runCommand(["call", url, "x"])).out).toBe("\u001b]0;title\u0007ok\n");
  expect((await runCommand(["call", url, "x"], { tty: true })).out).toBe("^[]0;title^Gok\n");
});

test("files are sent with --file and saved with --save, under safe names that are not in use", async () => {
  const folder = await mkdtemp(join(tmpdir(), "dragoman-cli-"));
  await writeFile(join(folder, "in.md"), "# hi");
  const file = { raw: Buffer.from("abc").toString("base64"), filename: "../../evil.txt" };
  const artifactUpdate = { ...ids, artifact: { artifactId: "f", parts: [file, file] } };
  const { url, calls } = await startServer([stream([{ artifactUpdate }, status("COMPLETED")], "end")]);
  const saved = join(folder, "saved");
  const { out } = await runCommand(["call", url, "--file", "in.md", "--save", saved], { cwd: folder });
  expect(calls[0]?.params.message).toMatchObject({
    parts: [{ raw: "IyBoaQ==", filename: "in.md", mediaType: "text/markdown" }],
  });
  expect(out).toBe("[../../evil.txt, 3 bytes]\n[../../evil.txt, 3 bytes]\n");
  expect((await readdir(saved)).sort()).toEqual(["evil-1.txt", "evil.txt"]);
  expect(await readFile(join(saved, "evil.txt"), "utf8")).toBe("abc");
  await rm(folder, { recursive: true });
});

const FAILURES: readonly [sentence: string, responder: Responder, message: RegExp][] = [
  [
    "a page instead of JSON is quoted",
    response => response.end(`<html>\n${"x".repeat(500)}`),
    /did not respond with JSON: "<html> x{193}…"\. Is this the address of an A2A agent\?\n$/,
  ],
  [
    "an HTTP error is printed with its status",
    plain({ oops: true }, 401),
    /answered HTTP 401 Unauthorized: "{"oops":true}"\. Set the variable DRAGOMAN_TOKEN, or add --token/,
  ],
  [
    "the sentence of a JSON error is printed without the JSON",
    plain({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Too many calls" } }, 429),
    /answered HTTP 429 Too Many Requests: Too many calls\. Too many requests: try again later\n$/,
  ],
  [
    "a redirect of a message is not followed",
    response => response.writeHead(307, { location: "https://other.example/" }).end(),
    /answered HTTP 307 Temporary Redirect\. It redirects to https:\/\/other\.example\/: call that URL\n$/,
  ],
  [
    "an error names the invalid fields",
    refuse(-32602, "Wrong", [{ fieldViolations: [{ field: "message.parts", description: "empty" }] }]),
    /refused SendStreamingMessage: Wrong \(message\.parts: empty\) \[-32602\]\n$/,
  ],
  [
    "a JSON-RPC error with HTTP status 500 is printed as such",
    refusedWith(500),
    /refused .*: No \[-32603\]\n$/,
  ],
  [
    "an invalid A2A response is quoted",
    stream([{ foo: 1 }], "end"),
    /sent an invalid A2A response: \{"foo":1\}\n$/,
  ],
  ["a stream without an event is an error", stream([], "end"), /closed the stream without an event\n$/],
];

function refusedWith(http: number): Responder {
  return plain({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "No" } }, http);
}

test.each(FAILURES)("%s", async (_sentence, responder, message) => {
  const { url } = await startServer([responder]);
  const { code, out, err } = await runCommand(["call", url, "hi"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(message);
  expect(err).toContain(url);
});

test("a refused connection has a hint", async () => {
  const { url } = await startServer([]);
  opened[0]?.closeAllConnections();
  await new Promise(resolve => opened[0]?.close(resolve));
  const { code, err } = await runCommand(["card", url]);
  expect({ code, err }).toEqual({
    code: 1,
    err: `error: Nothing answers at ${url}/.well-known/agent-card.json: connection refused. Start a server with: npx dragoman serve\n`,
  });
});
