import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JwtIssuer } from "../../src/model/index.ts";
import { bindingsOf, expectMeaning } from "../support/bindings.ts";
import { bearer, issue } from "../support/callers.ts";
import { openStream, rpc, type Stream, said } from "../support/client.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";
import { createPuppet, echo } from "../support/puppet.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Signed tokens of somebody else, who lives on the same machine and changes his keys. */

const puppet = createPuppet();
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
  serve([echo, puppet.definition], { auth: ["jwt"], jwt: [trusting(issuer.url, more)] });
const callWith = (secret: string, at = server) => rpc(at.url, "GetTask", { id: "x" }, bearer(secret));
const FOUND_OUT = -32001;

beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.close());

describe("a token of an issuer that is trusted", () => {
  beforeEach(async () => {
    server = await open();
    return () => server.stop();
  });

  it("is good on every transport, after one question to the issuer", async () => {
    const before = issuer.asked();
    const headers = bearer(await issuer.sign({ sub: "alice" }));
    const bindings = bindingsOf(server.url, "echo");
    const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };
    for (const binding of bindings) {
      expectMeaning(await binding.ask("SendMessage", { message }, headers), ['task completed ["hi"] (hi)']);
      expectMeaning(await binding.ask("CancelTask", { id: "x" }, headers), "forbidden");
      binding.close();
    }
    expect(issuer.asked()).toBe(before + 1);
    const { body } = await rpc(server.url, "ListTasks", {}, bearer(await issuer.sign({ sub: "bob" })));
    expect(body.result.totalSize).toBe(0);
  });

  it("is good after the issuer has changed its keys; what the old ones signed is not", async () => {
    const old = await issuer.sign({ sub: "carol" });
    expect((await callWith(old)).body.error.code).toBe(FOUND_OUT);
    await issuer.rotate();
    expect((await callWith(await issuer.sign({ sub: "carol" }))).body.error.code).toBe(FOUND_OUT);
    const another = await issuer.sign({ sub: "dave" }, { kid: "key-1" });
    expect((await callWith(another)).status).toBe(401);
  });

  it("with a key that is made up makes us ask the issuer once, however many come", async () => {
    await callWith(await issuer.sign({}));
    const before = issuer.asked();
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, at) => issuer.sign({ sub: `s${at}` }, { kid: `made-up-${at}` })),
    );
    const replies = await Promise.all(made.map(secret => callWith(secret)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(issuer.asked()).toBeLessThanOrEqual(before + 1);
  });

  it("is still good while the issuer cannot be reached; one that needs it has to wait", async () => {
    expect((await callWith(await issuer.sign({ sub: "erin" }))).body.error.code).toBe(FOUND_OUT);
    issuer.setOut(true);
    try {
      expect((await callWith(await issuer.sign({ sub: "frank" }))).body.error.code).toBe(FOUND_OUT);
      const fresh = await open();
      const reply = await callWith(await issuer.sign({ sub: "frank" }), fresh);
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "10"]);
      expect(reply.body.error.message).toContain(`The keys of ${issuer.url} cannot be fetched`);
      await fresh.stop();
    } finally {
      issuer.setOut(false);
    }
  });

  it("that expires ends what is read with it", async () => {
    const open = async (seconds: number): Promise<Stream> => {
      const exp = Math.floor(Date.now() / 1_000) + seconds;
      const headers = bearer(await issuer.sign({ exp }));
      return openStream(`${server.url}/agents/puppet`, "SendStreamingMessage", said("go"), headers);
    };
    // A machine that is so busy that the token has expired before the stream is open gets more time.
    let seconds = 2;
    let stream = await open(seconds);
    while (stream.status === 401) stream = await open((seconds *= 2));
    const id = (await stream.next())?.data.result.task.id;
    expect((await stream.all()).at(-1)?.data.error.message).toContain("no longer good");
    puppet.end(id);
  });
});

describe("an issuer", () => {
  it("may be known by the address of its keys alone", async () => {
    server = await open({ jwksUrl: `${issuer.url}/keys` });
    expect((await callWith(await issuer.sign({}))).body.error.code).toBe(FOUND_OUT);
    await server.stop();
  });

  it("is not believed if it says that it is somebody else, nor followed to where it points", async () => {
    const liar = createServer((request, response) => {
      if (request.url === "/moved")
        return void response.writeHead(302, { Location: `${issuer.url}/keys` }).end();
      const body = { issuer: "https://login.example", jwks_uri: `${issuer.url}/keys` };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
    liar.listen(0, "127.0.0.1");
    await once(liar, "listening");
    const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    for (const jwksUrl of [undefined, `${url}/moved`]) {
      server = await serve([echo], { auth: ["jwt"], jwt: [trusting(url, { jwksUrl })] });
      expect((await callWith(await issuer.sign({ iss: url }))).status).toBe(503);
      await server.stop();
    }
    liar.close();
  });

  it("may stand beside tokens of our own: each caller shows what he has", async () => {
    const folder = tempFolder();
    const settings = { auth: ["tokens", "jwt"] as const, jwt: [trusting(issuer.url)], data: folder.path };
    server = await serve([echo], settings);
    const own = await issue(folder.path, "alice");
    for (const secret of [own.secret, await issuer.sign({ sub: "alice" })]) {
      const { body } = await rpc(server.url, "SendMessage", said("hi"), bearer(secret));
      expect(body.result.task).toBeDefined();
    }
    // The same principal, whichever way he is known.
    expect((await rpc(server.url, "ListTasks", {}, own.headers)).body.result.totalSize).toBe(2);
    expect((await callWith("something.else")).status).toBe(401);
    await server.stop();
    folder.remove();
  });
});
