import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type RemoteAuth, type RemoteOptions, remote } from "../../src/runtime/remote/index.ts";
import { bindEnvironment } from "../../src/runtime/shared/bind-environment.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

/** Discovery and authentication of remote agents, unreachable ones, and loops. */

const servers: TestServer[] = [];
let proxy: TestProxy;
const echo: AgentDefinition = {
  name: "worker",
  description: "Works hard",
  version: "3.2.1",
  skills: [{ id: "work", name: "Work", tags: ["hard"] }],
  inputModes: ["text/*"],
  run: (task, ctx) => ctx.text(`hard: ${task.text}`),
};

beforeEach(async () => {
  proxy = await startProxy();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.stop()));
  await proxy.close();
});

async function start(...parts: Parameters<typeof serve>): Promise<TestServer> {
  const server = await serve(...parts);
  servers.push(server);
  return server;
}
const send = async (server: TestServer, text: string): Promise<object> =>
  (await rpc(server.url, "SendMessage", sendParams(text))).body;
const messageText = (body: object): string => partsText(taskOf(body).status.message?.parts);
const cardOf = async (server: TestServer): Promise<Record<string, unknown>> =>
  (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;

describe("loops", () => {
  it("are ended by a hop limit, and every caller on the way gets the reason", async () => {
    const names = ["alpha", "beta"];
    const cards = [await startProxy(), await startProxy()];
    const circle = await Promise.all(
      names.map((name, i) =>
        start([remote({ name, card: (cards[1 - i] as TestProxy).url })], {
          publicUrl: (cards[i] as TestProxy).url,
          hopsMax: 4,
        }),
      ),
    );
    for (const [i, card] of cards.entries()) card.target = (circle[i] as TestServer).url;
    const body = await send(circle[0] as TestServer, "round and round");
    expect(stateOf(body)).toBe("rejected");
    expect(messageText(body)).toContain("was forwarded by 5 servers; the limit is 4");
    expect(cards.flatMap(card => card.calls).filter(one => one.body.includes("round")).length).toBeLessThan(
      10,
    );
    await Promise.all(cards.map(card => card.close()));
  });
});

describe("cards", () => {
  it("have the content of the remote card, except for members of our definition", async () => {
    const there = await start([echo]);
    const here = await start([remote({ name: "gate", card: there.url, version: "9.9.9" })]);
    const card = await cardOf(here);
    expect(card).toMatchObject({ name: "gate", description: "Works hard", version: "9.9.9" });
    expect(card).toMatchObject({ skills: [{ id: "work", name: "Work", tags: ["hard"] }] });
    expect(card).toMatchObject({ defaultInputModes: ["text/*"] });
  });

  it("may have modes that the gateway leaves to the remote agent, unless the operator names some", async () => {
    const there = await start([{ ...echo, inputModes: ["text", "data"] }]);
    const open = await start([remote({ name: "gate", card: there.url })]);
    expect(textOf(await send(open, "hello"))).toBe("hard: hello");
    const image = { parts: [{ raw: "aGk=", mediaType: "image/png" }] };
    const there415 = await rpc(open.url, "SendMessage", sendParams("x", image));
    expect([stateOf(there415.body), messageText(there415.body)]).toEqual([
      "rejected",
      expect.stringContaining("Unsupported media type image/png; the agent accepts text, data"),
    ]);
    const closed = await start([remote({ name: "gate", card: there.url, inputModes: ["application/json"] })]);
    expect(await send(closed, "hello")).toMatchObject({ error: { code: -32005 } });
  });

  it("are read later if the remote server is down at startup", async () => {
    let isAway = true;
    proxy.instead = (_body, response) => {
      if (isAway) response.writeHead(503).end();
      return isAway;
    };
    const here = await start([remote({ name: "gate", card: proxy.url })]);
    expect(await cardOf(here)).toMatchObject({ description: `The agent at ${proxy.url}` });
    expect(here.log.lines.some(line => line.text.includes("could not be read"))).toBe(true);
    const there = await start([echo], { publicUrl: proxy.url });
    proxy.target = there.url;
    isAway = false;
    // Callers do not wait for the card.
    expect(textOf(await send(here, "hello"))).toBe("hard: hello");
    await until(async () => (await cardOf(here)).description === "Works hard");
  });

  it("may lead to a private network only if the operator allows it", async () => {
    const there = await start([echo], { publicUrl: "http://127.0.0.2:9998" });
    const here = await start([remote({ name: "gate", card: there.url })]);
    expect(stateOf(await send(here, "hello"))).toBe("failed");
    const why = here.log.lines.map(line => String((line.facts.err as Error | undefined)?.message)).join();
    expect(why).toContain(
      "is not called: it is a private address. If the card is right, set the option endpoint",
    );
  });
});

describe("an agent without a card", () => {
  it("needs a URL and a dialect", async () => {
    const there = await start([echo]);
    const endpoint = `${there.url}/a2a/worker`;
    const here = await start([remote({ name: "gate", endpoint, dialect: "langgraph" })]);
    expect(textOf(await send(here, "hello"))).toBe("hard: hello");
    expect(() => remote({ name: "gate", endpoint })).toThrow("needs a card; without one");
  });
});

const wrong: readonly (readonly [string, Partial<RemoteOptions>, RegExp])[] = [
  ["an invalid URL", { card: "agents" }, /card: expected a URL.*, got "agents"/],
  ["an unknown dialect", { dialect: "latin" as never }, /dialect: expected "v1", "v0.3", .*, got "latin"/],
  ["no secret", { auth: { bearerEnv: "" } }, /auth: expected { bearerEnv }/],
  ["a slip", { timeOutMs: 1 } as never, /has no option "timeOutMs" \(did you mean "?timeoutMs"?\?\)/],
];
it.each(wrong)("invalid options are reported at once: %s", (_what, options, message) => {
  expect(() => remote({ name: "gate", card: "https://x.example", ...options })).toThrow(message);
});

describe("outbound credentials", () => {
  /** Accepts calls with the secret; returns the headers that it received. */
  async function guarded(header: string, good: (value: string | undefined) => boolean): Promise<void> {
    const there = await start([echo], { publicUrl: proxy.url });
    proxy.target = there.url;
    proxy.instead = (_body, response, request) => {
      if (good(request.headers[header] as string | undefined)) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end("{}");
      return true;
    };
  }
  async function gate(auth: RemoteAuth, variables: Record<string, string> = {}): Promise<TestServer> {
    const definition = remote({ name: "gate", card: proxy.url, auth });
    bindEnvironment(definition, { folder: "/", variable: name => variables[name] });
    return start([definition]);
  }

  it("are a bearer token, from a variable", async () => {
    await guarded("authorization", value => value === "Bearer s3cret");
    const here = await gate({ bearerEnv: "TOKEN" }, { TOKEN: "s3cret" });
    expect(textOf(await send(here, "hello"))).toBe("hard: hello");
  });

  it("are a key, in a header of its own", async () => {
    await guarded("x-key", value => value === "s3cret");
    const here = await gate({ apiKey: "s3cret", header: "X-Key" });
    expect(textOf(await send(here, "hello"))).toBe("hard: hello");
  });

  it("must be set: a missing variable is reported at startup", () => {
    const definition = remote({ name: "gate", card: "https://x.example", auth: { bearerEnv: "TOKEN" } });
    expect(() => bindEnvironment(definition, { folder: "/", variable: () => undefined })).toThrow(
      "The environment variable TOKEN is not set",
    );
  });

  it("are not revealed to our caller if they are refused", async () => {
    await guarded("authorization", () => false);
    const here = await gate({ bearer: "s3cret" });
    const body = await send(here, "hello");
    expect(stateOf(body)).toBe("failed");
    expect(JSON.stringify(body)).not.toMatch(/401|s3cret|127\.0\.0\.1/);
    expect(JSON.stringify(here.log.lines.map(line => String(line.facts.err)))).toContain("401");
  });

  it("are OAuth tokens: one token for many calls, and a new one when it is refused", async () => {
    const tokenServer = await startTokenServer();
    await guarded("authorization", value => value === `Bearer token-${tokenServer.good}`);
    const oauth = {
      tokenUrl: `${tokenServer.url}/token`,
      clientId: "me & you",
      clientSecret: "s:3",
      scope: "a b",
    };
    const here = await gate({ oauth });
    await Promise.all([send(here, "one"), send(here, "two")]);
    expect(tokenServer.requests).toEqual([
      { form: "grant_type=client_credentials&scope=a+b", authorization: "me+%26+you:s%3A3" },
    ]);
    tokenServer.good += 1;
    expect(textOf(await send(here, "three"))).toBe("hard: three");
    expect(tokenServer.requests.length).toBe(2);
    tokenServer.server.close();
  });
});

/** Issues tokens to all clients; only the newest is valid. */
async function startTokenServer() {
  const tokenRequests: { form: string; authorization: string }[] = [];
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    let form = "";
    for await (const chunk of request) form += chunk;
    const basic = Buffer.from(String(request.headers.authorization).replace("Basic ", ""), "base64");
    tokenRequests.push({ form, authorization: String(basic) });
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ access_token: `token-${tokenServer.good}`, token_type: "bearer", expires_in: 3_600 }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokenServer = { url, server, requests: tokenRequests, good: 1 };
  return tokenServer;
}
