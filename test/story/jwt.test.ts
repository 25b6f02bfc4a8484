import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JwtIssuer } from "../../src/model/index.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { bindingsOf, expectMeaning } from "../support/bindings.ts";
import { bearer, issue } from "../support/callers.ts";
import { openStream, rpc, type Stream, sendParams } from "../support/client.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** JSON Web Tokens of an issuer on the same machine that rotates its keys. */

const puppet = createScriptedAgent();
let issuer: Issuer;
let server: TestServer;
const trusting = (url: string, more: Partial<JwtIssuer> = {}): JwtIssuer => ({
  issuer: url,
  jwksUrl: undefined,
  audience: ["agents"],
  algorithms: ["ES256"],
  skewSeconds: 0,
  claims: {
    principal: "sub",
    prefix: "",
    tenant: undefined,
    tenants: ["default"],
    scopes: undefined,
    grants: ["send", "read"],
    scopeNames: {},
    agents: undefined,
  },
  ...more,
});
const open = (more: Partial<JwtIssuer> = {}): Promise<TestServer> =>
  serve([echo, puppet.definition], { v11: "on", auth: ["jwt"], jwt: [trusting(issuer.url, more)] });
const callWith = (secret: string, at = server) => rpc(at.url, "GetTask", { id: "x" }, bearer(secret));
const FOUND_OUT = -32001;

beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.close());

describe("a token of a trusted issuer", () => {
  beforeEach(async () => {
    server = await open();
    return () => server.stop();
  });

  it("is accepted on every transport, after one request to the issuer", async () => {
    const before = issuer.keyRequests();
    const headers = bearer(await issuer.sign({ sub: "alice" }));
    const bindings = bindingsOf(server.url, "echo");
    const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };
    for (const binding of bindings) {
      expectMeaning(await binding.call("SendMessage", { message }, headers), ['task completed ["hi"] (hi)']);
      expectMeaning(await binding.call("CancelTask", { id: "x" }, headers), "forbidden");
      binding.close();
    }
    expect(issuer.keyRequests()).toBe(before + 1);
    const { body } = await rpc(server.url, "ListTasks", {}, bearer(await issuer.sign({ sub: "bob" })));
    expect(body.result.totalSize).toBe(0);
  });

  it("is accepted after the issuer has rotated its keys; tokens of the old keys are refused", async () => {
    const old = await issuer.sign({ sub: "carol" });
    expect((await callWith(old)).body.error.code).toBe(FOUND_OUT);
    await issuer.rotate();
    expect((await callWith(await issuer.sign({ sub: "carol" }))).body.error.code).toBe(FOUND_OUT);
    const another = await issuer.sign({ sub: "dave" }, { kid: "key-1" });
    expect((await callWith(another)).status).toBe(401);
  });

  it("with an unknown key id causes one request to the issuer, however many come", async () => {
    await callWith(await issuer.sign({}));
    const before = issuer.keyRequests();
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, at) => issuer.sign({ sub: `s${at}` }, { kid: `made-up-${at}` })),
    );
    const replies = await Promise.all(made.map(secret => callWith(secret)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(issuer.keyRequests()).toBeLessThanOrEqual(before + 1);
  });

  it("is accepted while the issuer cannot be reached; a server that has not fetched its keys answers 503", async () => {
    expect((await callWith(await issuer.sign({ sub: "erin" }))).body.error.code).toBe(FOUND_OUT);
    issuer.setDown(true);
    try {
      expect((await callWith(await issuer.sign({ sub: "frank" }))).body.error.code).toBe(FOUND_OUT);
      const fresh = await open();
      const reply = await callWith(await issuer.sign({ sub: "frank" }), fresh);
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "10"]);
      expect(reply.body.error.message).toContain(
        `The keys of the token issuer ${issuer.url} cannot be fetched`,
      );
      await fresh.stop();
    } finally {
      issuer.setDown(false);
    }
  });

  it("that expires ends its streams", async () => {
    const open = async (seconds: number): Promise<Stream> => {
      const exp = Math.floor(Date.now() / 1_000) + seconds;
      const headers = bearer(await issuer.sign({ exp }));
      return openStream(`${server.url}/agents/puppet`, "SendStreamingMessage", sendParams("go"), headers);
    };
    // On a busy machine, where the token has expired before the stream is open, its lifetime grows.
    let seconds = 2;
    let stream = await open(seconds);
    while (stream.status === 401) stream = await open((seconds *= 2));
    const id = (await stream.next())?.data.result.task.id;
    expect((await stream.all()).at(-1)?.data.error.message).toContain("have expired or were revoked");
    puppet.end(id);
  });
});

describe("an issuer", () => {
  it("can be configured by the URL of its keys alone", async () => {
    server = await open({ jwksUrl: `${issuer.url}/keys` });
    expect((await callWith(await issuer.sign({}))).body.error.code).toBe(FOUND_OUT);
    await server.stop();
  });

  it("is not trusted if its metadata names another issuer, and redirects are not followed", async () => {
    const otherIssuer = createServer((request, response) => {
      if (request.url === "/moved")
        return void response.writeHead(302, { Location: `${issuer.url}/keys` }).end();
      const body = { issuer: "https://login.example", jwks_uri: `${issuer.url}/keys` };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
    otherIssuer.listen(0, "127.0.0.1");
    await once(otherIssuer, "listening");
    const url = `http://127.0.0.1:${(otherIssuer.address() as AddressInfo).port}`;
    for (const jwksUrl of [undefined, `${url}/moved`]) {
      server = await serve([echo], { auth: ["jwt"], jwt: [trusting(url, { jwksUrl })] });
      expect((await callWith(await issuer.sign({ iss: url }))).status).toBe(503);
      await server.stop();
    }
    otherIssuer.close();
  });

  it("can be combined with tokens of this server: each caller uses either", async () => {
    const folder = tempFolder();
    const settings = { auth: ["tokens", "jwt"] as const, jwt: [trusting(issuer.url)], data: folder.path };
    server = await serve([echo], settings);
    const own = await issue(folder.path, "alice");
    for (const secret of [own.secret, await issuer.sign({ sub: "alice" })]) {
      const { body } = await rpc(server.url, "SendMessage", sendParams("hi"), bearer(secret));
      expect(body.result.task).toBeDefined();
    }
    // The same principal, with either method.
    expect((await rpc(server.url, "ListTasks", {}, own.headers)).body.result.totalSize).toBe(2);
    expect((await callWith("something.else")).status).toBe(401);
    await server.stop();
    folder.remove();
  });
});
