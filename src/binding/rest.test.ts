import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createBodyReader } from "../http/body.ts";
import { createStreams } from "../http/sse.ts";
import { createResponseWriter } from "../http/write-large.ts";
import { FirstBatchThen } from "../lib/batch-source.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { LIMITS, type Seq } from "../model/index.ts";
import type { Frame, Pipeline, RequestHeaders, Route, WireFault, WireReply } from "../ports/index.ts";
import { createRest } from "./rest.ts";

const ROUTE: Route = { transport: "rest", verb: "POST", path: "/ask", method: "Ask" };
const FAULT: WireFault = {
  code: "internal",
  rpc: 1,
  http: 500,
  grpc: "INTERNAL",
  status: 200,
  message: "It broke",
  data: [{ reason: "WORN" }],
};
const HEAD = { headers: {}, envelope: { withoutId: "none", idInFrames: true } } as const;

let server: Server;
afterEach(() => server.close());

/** Every call gets this reply. */
async function open(reply: WireReply): Promise<string> {
  const pipeline = { handle: async () => reply } as unknown as Pipeline;
  const rest = createRest({
    pipeline,
    writer: createResponseWriter(LIMITS.heartbeatMs),
    streams: createStreams({
      ...LIMITS,
      loop: new LoopBudget(2_048),
      log: { debug() {}, info() {}, warn() {}, error() {} },
    }),
    bodies: createBodyReader(LIMITS),
  });
  server = createServer((request, response) => {
    const match = { endpoint: ROUTE.path, vars: {}, byVerb: new Map() };
    const headers = request.headers as RequestHeaders;
    const query = new URLSearchParams();
    const { signal } = new AbortController();
    const certificate = () => undefined;
    const base = () => "";
    const exchange = { request, response, match, headers, certificate, query, base, signal: () => signal };
    void rest.serve(exchange, ROUTE);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const framesOf = (...frames: Frame[]) => new FirstBatchThen(frames, null);

describe("HTTP+JSON", () => {
  it("a stream that fails ends with an event named error", async () => {
    const frames = framesOf({ id: 1 as Seq, data: '{"task":{}}' }, { fault: FAULT });
    const url = await open({ kind: "stream", ...HEAD, frames });
    const text = await (await fetch(url, { method: "POST" })).text();
    const error = { code: 500, status: "INTERNAL", message: "It broke", details: FAULT.data };
    const data = JSON.stringify({ error });
    expect(text).toBe(`id: 1\ndata: {"task":{}}\n\nevent: error\ndata: ${data}\n\n`);
  });

  it("a dialect with its own form of an error sends it with the status of the fault", async () => {
    const fault = { ...FAULT, body: { code: 7, message: "It broke" } };
    const url = await open({ kind: "fault", ...HEAD, fault });
    const response = await fetch(url, { method: "POST", body: "null" });
    expect([response.status, await response.json()]).toEqual([500, { code: 7, message: "It broke" }]);
  });
});
