import { deepEqual, equal } from "node:assert/strict";
import { createServer } from "dragoman";
import { type ProtocolRequest, protocolContract } from "dragoman/testing/contracts";
import { createChatProtocol } from "./protocol.ts";

const BASE = "/simple-chat/tested";
const post = (path: string, body: ProtocolRequest["body"]): ProtocolRequest => ({
  method: "POST",
  path,
  body,
});

const cases = protocolContract(() => ({
  dialect: createChatProtocol(),
  send: (text, task) => post(BASE, task === undefined ? { text } : { text, task }),
  get: task => ({ method: "GET", path: `${BASE}/tasks/${task}` }),
  cancel: task => ({ method: "DELETE", path: `${BASE}/tasks/${task}` }),
  stream: text => post(`${BASE}/stream`, { text }),
  read(body) {
    const { task: id, state, text } = body as { task: string; state: string; text: string };
    return { id, state, text };
  },
  readError: status => (status < 400 ? undefined : status),
  errorNumber: "http",
  bad: {
    "no text": post(BASE, {}),
    "a number as text": post(BASE, { text: 1 }),
    "another agent": post("/simple-chat/unknown", { text: "hi" }),
  },
}));
for (const { name, run } of cases)
  await run().catch(error => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });

const server = await createServer({
  agents: [{ name: "echo", run: task => task.text }],
  protocols: [createChatProtocol()],
  data: ":memory:",
  port: 0,
  logLevel: "warn",
});
try {
  const response = await fetch(`${server.url}/simple-chat/echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "hello" }),
  });
  equal(response.status, 200);
  const { task, ...rest } = (await response.json()) as { task: string };
  deepEqual(rest, { state: "completed", text: "hello" });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
  equal(Object.hasOwn(document.paths, "/simple-chat/{agent}"), true);
} finally {
  await server.close();
}
process.stdout.write("ok\n");
