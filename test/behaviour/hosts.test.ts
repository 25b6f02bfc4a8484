import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentName } from "../../src/model/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { startMounted } from "../../src/server/create-server.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { serveGuarded } from "../support/callers.ts";
import { rpc, sendParams } from "../support/client.ts";
import { onNode } from "../support/hosts.ts";
import type { Loose } from "../support/official-dialects.ts";
import { createTestLog, SETTINGS, serve, type TestServer } from "../support/server.ts";

/** DNS rebinding and CORS: the names under which a server on loopback may be called, and from which pages. */

interface Reply {
  readonly status: number;
  readonly headers: Loose;
  readonly body: string;
}

/** `fetch` does not allow a program to set these headers. */
const call = (url: string, headers: Record<string, string>, method = "GET", body?: string): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, async response => {
      const text = (await Array.fromAsync(response.setEncoding("utf8"))).join("");
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
    });
    outgoing.on("error", reject).end(body);
  });
const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: sendParams("hi") });
const JSON_TYPE = { "content-type": "application/json", "a2a-version": "1.0" };

describe("a server on loopback without authentication", () => {
  let server: TestServer;
  let port = "";
  beforeAll(async () => {
    server = await serve([echo], { publicUrl: "https://agents.example/a", allowedHosts: ["box.test"] });
    ({ port } = new URL(server.url));
  });
  afterAll(() => server.stop());

  it("answers to loopback names with any port, and to allowed hosts", async () => {
    for (const name of ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "agents.example", "box.test"])
      for (const host of [name, `${name}:${port}`, `${name}:1`])
        expect([host, (await call(`${server.url}/agents`, { host })).status]).toEqual([host, 200]);
  });

  it("refuses other names that resolve to this address", async () => {
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "localhost.evil.example",
      "127.0.0.1.evil.example",
    ]) {
      const reply = await call(`${server.url}/agents`, { host });
      expect([host, reply.status]).toEqual([host, 403]);
      expect(JSON.parse(reply.body).error).toMatchObject({
        code: 403,
        status: "PERMISSION_DENIED",
        message: expect.stringContaining("--allowed-hosts"),
      });
    }
  });

  it("accepts nothing from pages of other origins, not even requests without a preflight", async () => {
    const send = (headers: Record<string, string>) => call(server.url, headers, "POST", BODY);
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost:1",
      `https://localhost:${port}.evil.example`,
    ])
      for (const headers of [{ origin }, { origin, ...JSON_TYPE }])
        expect([origin, (await send(headers)).status]).toEqual([origin, 403]);
    for (const origin of [`http://127.0.0.1:${port}`, "https://agents.example"])
      expect([origin, (await send({ origin, ...JSON_TYPE })).status]).toEqual([origin, 200]);
    // The page may not read the response: the browser enforces that.
    const reply = await call(`${server.url}/agents`, { origin: "https://evil.example" });
    expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
    const ask = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const preflight = await call(server.url, ask, "OPTIONS");
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, undefined]);
  });

  it("leaves names to the proxy if there is one", async () => {
    const behind = await serve([echo], { trustProxy: true });
    expect((await call(`${behind.url}/agents`, { host: "agents.example" })).status).toBe(200);
    const page = { origin: "https://agents.example", ...JSON_TYPE };
    expect((await call(behind.url, page, "POST", BODY)).status).toBe(403);
    const forwarded = { ...page, "x-forwarded-host": "agents.example" };
    expect((await call(behind.url, forwarded, "POST", BODY)).status).toBe(200);
    await behind.stop();
  });

  it("does not check names if authentication is required, nor inside another program", async () => {
    const guarded = await serveGuarded([echo]);
    const { headers } = await guarded.issue("alice");
    const foreign = { host: "agents.example", origin: "https://page.example" };
    expect((await call(guarded.url, { ...foreign, ...headers, ...JSON_TYPE }, "POST", BODY)).status).toBe(
      200,
    );
    await guarded.stop();
    const parts = {
      settings: SETTINGS,
      agents: [toAgent(echo)],
      defaultAgent: "echo" as AgentName,
      log: createTestLog(),
    };
    const mounted = await startMounted(parts, undefined);
    const host = await onNode(mounted);
    const reply = await call(host.url, { ...foreign, ...JSON_TYPE }, "POST", BODY);
    expect(reply.status).toBe(200);
    // The callers of the other program are unknown: none is an administrator.
    expect((await call(`${host.url}/metrics`, {})).status).toBe(403);
    await host.close();
    await mounted.close();
  });
});

describe("pages of allowed origins", () => {
  const origin = "https://console.example";
  const puppet = createScriptedAgent();
  let server: TestServer;
  beforeAll(async () => {
    server = await serve([echo, puppet.definition], { cors: [origin, "https://other.example"] });
  });
  afterAll(() => server.stop());

  it("are allowed by the preflight", async () => {
    const ask = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "a2a-version",
    };
    for (const [path, verbs] of [
      ["/", "POST, GET, HEAD, OPTIONS"],
      ["/agents/echo", "POST, OPTIONS"],
      ["/tasks/x/pushNotificationConfigs/y", "GET, DELETE, HEAD, OPTIONS"],
    ]) {
      const { status, headers } = await call(server.url + path, ask, "OPTIONS");
      expect([status, headers["access-control-allow-origin"]]).toEqual([204, origin]);
      expect(headers["access-control-allow-methods"]).toBe(verbs);
      const names = headers["access-control-allow-headers"].toLowerCase().split(", ");
      for (const name of ["authorization", "content-type", "a2a-version", "a2a-extensions", "last-event-id"])
        expect(names).toContain(name);
      for (const name of ["idempotency-key", "traceparent", "x-api-key"]) expect(names).toContain(name);
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it("read responses of every kind, refusals and streams included", async () => {
    const got = async (path: string, method = "GET", body?: string): Promise<[number, string]> => {
      const { status, headers } = await call(server.url + path, { origin, ...JSON_TYPE }, method, body);
      expect(headers["access-control-expose-headers"]).toContain("A2A-Version");
      return [status, headers["access-control-allow-origin"]];
    };
    expect(await got("/", "POST", BODY)).toEqual([200, origin]);
    expect(await got("/tasks/x")).toEqual([404, origin]);
    expect(await got("/nothing/at/all")).toEqual([404, origin]);
    expect(await got("/openapi.json")).toEqual([200, origin]);
    const stream = BODY.replace("SendMessage", "SendStreamingMessage");
    expect(await got("/", "POST", stream)).toEqual([200, origin]);
  });

  it("are only those in the list, and caches get a Vary header", async () => {
    const evil = await call(server.url, { origin: "https://evil.example", ...JSON_TYPE }, "POST", BODY);
    expect(evil.status).toBe(403);
    const card = await call(`${server.url}/.well-known/agent-card.json`, { origin: "https://evil.example" });
    expect([card.headers["access-control-allow-origin"], card.headers.vary]).toEqual([
      undefined,
      "A2A-Version, Origin",
    ]);
  });

  it("are all, if the operator configures it", async () => {
    const open = await serve([echo], { cors: ["*"] });
    const reply = await call(open.url, { origin: "https://any.example", ...JSON_TYPE }, "POST", BODY);
    expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([200, "*"]);
    await open.stop();
  });

  it("need a token like any other caller", async () => {
    const guarded = await serveGuarded([echo], { cors: [origin] });
    const { headers } = await guarded.issue("alice");
    const without = await call(guarded.url, { origin, ...JSON_TYPE }, "POST", BODY);
    expect([without.status, without.headers["access-control-allow-origin"]]).toEqual([401, origin]);
    expect((await rpc(guarded.url, "SendMessage", sendParams("hi"), { ...headers, origin })).status).toBe(
      200,
    );
    await guarded.stop();
  });
});
