import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentName, CertificateOwner } from "../../src/model/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { startMounted } from "../../src/server/create-server.ts";
import { echo } from "../support/agents.ts";
import { bearer, issue } from "../support/callers.ts";
import { type Certificate, createAuthority, writeCertificate } from "../support/certificate.ts";
import { sendParams } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { createTestLog, SETTINGS, serve, type TestServer, tempFolder } from "../support/server.ts";

/** Callers with client certificates. */

const folder = tempFolder();
const { cert: serverCert, ...files } = writeCertificate(folder.path);
const authority = createAuthority("callers");
const tlsClientCa = join(folder.path, "callers.crt");
writeFileSync(tlsClientCa, authority.cert);
const robot = authority.sign("robot");
const other = authority.sign("other");
const foreign = createAuthority("others").sign("robot");
/** With the name of the trusted authority: such a connection may also be reset. */
const forged = createAuthority("callers").sign("robot");
const identity = { tenants: ["acme"], grants: ["send", "read"], agents: undefined } as const;
const owners: readonly CertificateOwner[] = [
  { ...identity, principal: "by name", commonName: "robot", fingerprint: undefined },
  {
    ...identity,
    principal: "by fingerprint",
    commonName: undefined,
    fingerprint: new X509Certificate(other.cert).fingerprint256.replaceAll(":", "").toLowerCase(),
  },
];

/** Returns the name of its caller. */
const who = {
  ...echo,
  name: "who",
  run: (_task: unknown, ctx: Loose) => ctx.text(`${ctx.caller.tenant}/${ctx.caller.principal}`),
};
let server: TestServer;
beforeAll(async () => {
  server = await serve([who], { ...files, tlsClientCa, auth: ["mtls"], clientCertificates: owners });
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: sendParams("hi") });
const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };
const answerIn = (text: string): string => {
  const { result, error } = JSON.parse(text);
  return error ? error.message : result.task.artifacts[0].parts[0].text;
};

async function post(
  url: string,
  shown?: Certificate,
  agent?: Agent,
  headers = {},
): Promise<[number, string]> {
  const options = { ca: serverCert, agent: agent ?? false, ...shown };
  const call = request(url, { method: "POST", headers: { ...HEADERS, ...headers }, ...options });
  call.end(BODY);
  const [response] = await once(call, "response");
  const text = (await Array.fromAsync(response.setEncoding("utf8"))).join("");
  return [response.statusCode, answerIn(text)];
}

async function post2(url: string, shown?: Certificate): Promise<[number, string]> {
  const session = connectHttp2(url, { ca: serverCert, ...shown });
  const stream = session.request({ ":method": "POST", ":path": "/", ...HEADERS });
  stream.end(BODY);
  const [headers] = await once(stream, "response");
  const text = (await Array.fromAsync(stream.setEncoding("utf8"))).join("");
  session.close();
  return [headers[":status"], answerIn(text)];
}

describe("a certificate of a trusted authority", () => {
  it("authenticates its caller, by name or by fingerprint, over HTTP/1.1 and HTTP/2", async () => {
    for (const call of [post, post2]) {
      expect(await call(server.url, robot)).toEqual([200, "acme/by name"]);
      expect(await call(server.url, other)).toEqual([200, "acme/by fingerprint"]);
    }
  });

  it("authenticates also on a resumed TLS session", async () => {
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10, ca: serverCert, ...robot });
    for (let times = 0; times < 3; times++)
      expect(await post(server.url, undefined, agent)).toEqual([200, "acme/by name"]);
    agent.destroy();
  });

  it("does not authenticate requests from pages of other origins", async () => {
    const from = async (origin: string) => (await post(server.url, robot, undefined, { origin }))[0];
    expect(await from("https://evil.example")).toBe(403);
    expect(await from(server.url)).toBe(200);
  });

  it("authenticates over gRPC", async () => {
    const creds = credentials.createSsl(
      Buffer.from(serverCert),
      Buffer.from(robot.key),
      Buffer.from(robot.cert),
    );
    const client = createGrpcClient(new URL(server.url).host.replace("127.0.0.1", "localhost"), creds);
    const { json } = await client.ask("SendMessage", sendParams("hi"));
    expect(json.task.artifacts[0].parts[0].text).toBe("acme/by name");
    client.close();
  });
});

describe("another certificate, or none,", () => {
  it("is refused, with a challenge", async () => {
    const unlisted = authority.sign("stranger");
    for (const shown of [undefined, foreign, unlisted])
      for (const call of [post, post2])
        expect(await call(server.url, shown)).toEqual([401, "Authentication required"]);
    const response = await new Promise<Loose>((resolve, reject) => {
      const call = request(server.url, { method: "POST", ca: serverCert, agent: false }, resolve);
      call.on("error", reject).end("{}");
    });
    expect(response.resume().headers["www-authenticate"]).toBe('ClientCertificate realm="dragoman"');
  });

  it("is refused over gRPC as well", async () => {
    for (const shown of [undefined, foreign]) {
      const pair = shown && [Buffer.from(shown.key), Buffer.from(shown.cert)];
      const creds = credentials.createSsl(Buffer.from(serverCert), ...((pair ?? []) as [Buffer, Buffer]));
      const client = createGrpcClient(new URL(server.url).host.replace("127.0.0.1", "localhost"), creds);
      const error = await refusedBy(client.ask("SendMessage", sendParams("hi")));
      expect([error.code, error.details]).toEqual([status.UNAUTHENTICATED, "Authentication required"]);
      client.close();
    }
  });

  it("is refused if it is forged", async () => {
    for (const call of [post, post2])
      expect((await call(server.url, forged).catch(() => ["broken"]))[0]).not.toBe(200);
  });

  it("suffices for cards", async () => {
    const response = await new Promise<Loose>((resolve, reject) => {
      request(`${server.url}/.well-known/agent-card.json`, { ca: serverCert, agent: false }, resolve)
        .on("error", reject)
        .end();
    });
    expect(response.resume().statusCode).toBe(200);
  });
});

describe("beside other methods", () => {
  it("without a list every certificate of the authority is accepted by its name; other callers may use tokens", async () => {
    const both = await serve([who], {
      ...files,
      tlsClientCa,
      auth: ["mtls", "tokens"],
      data: join(folder.path, "data"),
    });
    const { secret } = await issue(join(folder.path, "data"), "alice");
    expect(await post(both.url, authority.sign("anybody"))).toEqual([200, "default/anybody"]);
    expect(await post(both.url, undefined, undefined, bearer(secret))).toEqual([200, "default/alice"]);
    // The first method in the list wins.
    expect(await post(both.url, robot, undefined, bearer(secret))).toEqual([200, "default/robot"]);
    expect((await post(both.url, foreign))[0]).toBe(401);
    await both.stop();
  });

  it("inside another program the certificate of its connection counts", async () => {
    const settings = { ...SETTINGS, auth: ["mtls"] as const, clientCertificates: owners };
    const agents = [toAgent(who)];
    const parts = { settings, agents, defaultAgent: "who" as AgentName, log: createTestLog() };
    const mounted = await startMounted(parts, undefined);
    const options = {
      cert: serverCert,
      key: readKey(),
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const host = createServer(options, mounted.handler);
    host.listen(0, "127.0.0.1");
    await once(host, "listening");
    const url = `https://127.0.0.1:${(host.address() as AddressInfo).port}`;
    expect(await post(url, robot)).toEqual([200, "acme/by name"]);
    expect((await post(url, foreign))[0]).toBe(401);
    host.close();
    await mounted.close();
  });
});

const readKey = (): Buffer => readFileSync(files.tlsKey);
