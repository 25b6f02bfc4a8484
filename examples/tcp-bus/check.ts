import { equal } from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "dragoman";
import type { RemoteBusParts } from "dragoman/ports";
import { busContract } from "dragoman/testing/contracts";
import { createHub, createTcpBus } from "./bus.ts";

const hub = createHub().listen(0, "127.0.0.1");
const sockets = new Set<Socket>();
hub.on("connection", socket => sockets.add(socket));
await once(hub, "listening");
const { port } = hub.address() as AddressInfo;

const silent = () => {};
const log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
const PARTS = { batchMs: 2, pollMs: 60_000, log };

const cases = busContract(() => ({
  open: (node, onRemote) => createTcpBus({ ...PARTS, node, onRemote }, port),
  lonely: node => createTcpBus({ ...PARTS, node, onRemote: silent }, 1),
  async cut() {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  },
}));
for (const { name, run } of cases)
  await run().catch(error => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });

/** A server with the bus: another node is notified of its task. */
const seen = new Set<string | undefined>();
const other = createTcpBus({ ...PARTS, node: "other", onRemote: topic => seen.add(topic) }, port);
const server = await createServer({
  agents: [{ name: "echo", run: task => task.text }],
  bus: (parts: RemoteBusParts) => createTcpBus(parts, port),
  data: ":memory:",
  port: 0,
  logLevel: "warn",
});
try {
  const response = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "hi" }] } },
    }),
  });
  const { task } = ((await response.json()) as { result: { task: { id: string } } }).result;
  for (let waits = 0; !seen.has(task.id) && waits < 100; waits++)
    await new Promise(resolve => setTimeout(resolve, 10));
  equal(seen.has(task.id), true);
} finally {
  await server.close();
  await other.close();
  hub.close();
}
process.stdout.write("ok\n");
