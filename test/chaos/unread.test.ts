import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/client.ts";
import type { TestServer } from "../support/server.ts";
import {
  MB,
  openServers,
  type PartialResponse,
  portOf,
  type Servers,
  sendPlain,
  UNREAD_CLIENTS,
  valueIn,
} from "../support/unread.ts";

/** More than the buffers of a loopback connection hold, so that an unread response stays in the server. */
const TASK_MB = 24;
/** A caller may have half of it: two such responses, and not three. */
const UNREAD_BYTES_MAX = 120 * MB;
const CALLERS = 12;

let servers: Servers;
beforeAll(async () => {
  servers = await openServers({ unreadBytesMax: UNREAD_BYTES_MAX });
});
afterAll(() => servers.close());

describe.each(UNREAD_CLIENTS)("large responses that are not read: %s", (_name, of) => {
  it("are bounded, further ones are refused with 503, and every caller can read its whole task", async () => {
    const client = of(servers);
    const taskId = await client.send(String(TASK_MB));
    const callers: PartialResponse[] = [];
    for (let i = 0; i < CALLERS; i++) callers.push(await client.request(taskId));
    const taken = callers.filter(one => one.isOk);
    expect(taken).toHaveLength(2);
    const unread = (await client.unread?.()) ?? 2 * TASK_MB * MB;
    expect(unread).toBeGreaterThan(TASK_MB * MB);
    expect(unread).toBeLessThanOrEqual(UNREAD_BYTES_MAX / 2);
    for (const one of callers) if (!one.isOk) expect(one.retryAfter).toMatch(/^\d+$/);
    // Small responses are still accepted.
    const small = await client.request(await client.send("1"));
    expect(small.retryAfter).toBeUndefined();
    small.close();
    const first = taken[0] as PartialResponse;
    expect(await first.rest()).toBeGreaterThan(TASK_MB * MB);
    for (const one of callers) if (one !== first) one.close();
    let again = await client.request(taskId);
    await until(async () => again.isOk || (again = await client.request(taskId)).isOk);
    expect(await again.rest()).toBeGreaterThan(TASK_MB * MB);
    await until(async () => ((await client.unread?.()) ?? 0) === 0);
  });
});

describe("a client that reads nothing", () => {
  let hasty: Servers;
  beforeAll(async () => {
    hasty = await openServers({ heartbeatMs: 250 });
  });
  afterAll(() => hasty.close());

  it.each(UNREAD_CLIENTS)(
    "loses its connection, or its stream, and the server buffers nothing for it: %s",
    async (_name, of) => {
      const client = of(hasty);
      const taskId = await client.send(String(TASK_MB));
      const stuck = await client.request(taskId);
      expect(stuck.isOk).toBe(true);
      if (client.unread) await until(async () => (await client.unread?.()) === 0);
      else await new Promise(resolve => setTimeout(resolve, 20 * 250));
      // All that can be read was sent by then.
      expect(await stuck.rest().catch(() => 0)).toBeLessThan(TASK_MB * MB);
    },
  );
});

describe("streams with large events", () => {
  const subscribe = (id: string): string => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } });
    const head =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const open = async (server: TestServer, id: string) => {
    const socket = connect(portOf(server), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(subscribe(id));
    const pieces: Uint8Array[] = [((await once(socket, "data")) as [Buffer])[0]];
    socket.pause();
    return {
      close: () => void socket.destroy(),
      async all(): Promise<string> {
        socket.on("data", (piece: Buffer) => pieces.push(piece)).resume();
        if (!socket.closed) await once(socket, "close");
        return toBody(Buffer.concat(pieces));
      },
    };
  };

  it("have the same bound, end with a fault, and can be read completely", async () => {
    const id = await sendPlain(servers.plain.url, String(TASK_MB));
    const metrics = async (): Promise<number> =>
      valueIn(await (await fetch(`${servers.plain.url}/metrics`)).text());
    const first = await open(servers.plain, id);
    const second = await open(servers.plain, id);
    await until(async () => (await metrics()) > 2 * TASK_MB * MB);
    for (let i = 0; i < CALLERS; i++)
      expect(await (await open(servers.plain, id)).all()).toMatch(/^data: .*"error":.*unread/m);
    expect(await metrics()).toBeLessThanOrEqual(UNREAD_BYTES_MAX / 2);
    const data = /^data: (.*)$/m.exec(await first.all())?.[1] ?? "";
    const { artifacts } = JSON.parse(data).result;
    expect(artifacts).toHaveLength(TASK_MB);
    for (const { parts } of artifacts) expect(parts[0].text).toBe("é".repeat(MB / 2));
    second.close();
    await until(async () => (await metrics()) === 0);
  });
});

/** RFC 9112 §7.1: the chunks of a body, joined. */
function toBody(bytes: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = bytes.indexOf("\r\n\r\n") + 4; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16);
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces).toString();
}
