import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { echo, mirror } from "../support/agents.ts";
import { type Loose, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#cards, R12, D2: cards and their locations. */

const CARD = "/.well-known/agent-card.json";
const full = {
  ...mirror,
  name: "full",
  description: "Has everything",
  version: "2.1.0",
  provider: { organization: "Example", url: "https://example.org" },
  documentationUrl: "https://example.org/docs",
  iconUrl: "https://example.org/icon.png",
  inputModes: ["text/plain"],
  outputModes: ["text/plain", "image/png"],
  skills: [{ id: "draw", name: "Draw", description: "Draws", tags: ["art"], examples: ["a cat"] }],
  extensions: [{ uri: "urn:example:ext", description: "An extension", required: false }],
  streaming: false,
};

let server: TestServer;
beforeAll(async () => {
  server = await serve([echo, full]);
});
afterAll(() => server.stop());

async function card(path: string, headers: Record<string, string> = {}, base = server.url): Promise<Loose> {
  const response = await fetch(`${base}${path}`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  return response.json();
}

/** Sends over an interface of a card. */
async function useInterface(url: string, binding: string, version: string): Promise<void> {
  const dialect = version === "1.0" ? V1 : V03;
  expect(version).toBe(dialect.version);
  const headers = { "a2a-version": version };
  if (binding === "JSONRPC")
    return void (await rpcResult(url, dialect.send, dialect.sendParams("hi"), headers));
  // gRPC needs its own client: see test/conformance.
  if (binding === "GRPC") return;
  expect(binding).toBe("HTTP+JSON");
  const path = version === "1.0" ? "/message:send" : "/v1/message:send";
  const body = JSON.stringify(dialect.sendParams("hi"));
  const sent = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
  const response = await fetch(`${url}${path}`, sent);
  expect([response.status, response.headers.get("a2a-version")]).toEqual([200, version]);
}

/** The members that the closed schemas of the two versions allow. */
const V1_MEMBERS = [
  ...[
    "name",
    "description",
    "supportedInterfaces",
    "provider",
    "version",
    "documentationUrl",
    "capabilities",
  ],
  ...["securitySchemes", "securityRequirements", "defaultInputModes", "defaultOutputModes", "skills"],
  ...["signatures", "iconUrl"],
];
const V03_MEMBERS = [
  ...["protocolVersion", "name", "description", "url", "preferredTransport", "additionalInterfaces"],
  ...["iconUrl", "provider", "version", "documentationUrl", "capabilities", "securitySchemes", "security"],
  ...["defaultInputModes", "defaultOutputModes", "skills", "supportsAuthenticatedExtendedCard", "signatures"],
];

describe("B-D1: the card at the well-known path", () => {
  it.each([CARD, `/agents/full${CARD}`])("B-D1: is a pure v1 card for v1 (%s)", async path => {
    const one = await card(path, { "a2a-version": "1.0" });
    for (const name of Object.keys(one)) expect(V1_MEMBERS).toContain(name);
    const required = ["name", "description", "supportedInterfaces", "version", "capabilities"];
    for (const name of [...required, "defaultInputModes", "defaultOutputModes", "skills"])
      expect(one[name]).toBeTruthy();
    for (const name of Object.keys(one.capabilities))
      expect(["streaming", "pushNotifications", "extendedAgentCard", "extensions"]).toContain(name);
  });

  it.each([CARD, `/agents/full${CARD}`])("B-D1: is a pure v0.3 card for v0.3 (%s)", async path => {
    for (const version of ["0.3", "0.3.0"]) {
      const one = await card(path, { "a2a-version": version });
      for (const name of Object.keys(one)) expect(V03_MEMBERS).toContain(name);
      expect(one).toMatchObject({ protocolVersion: "0.3.0", preferredTransport: "JSONRPC" });
      for (const name of Object.keys(one.capabilities))
        expect(["streaming", "pushNotifications", "stateTransitionHistory", "extensions"]).toContain(name);
    }
  });

  it("B-D1: no required value of a card is empty, whatever the agent leaves out", async () => {
    for (const version of ["1.0", "0.3"]) {
      const one = await card(CARD, { "a2a-version": version });
      for (const name of ["name", "description", "version"]) expect(one[name]).toMatch(/.+/);
      for (const name of ["defaultInputModes", "defaultOutputModes", "skills"])
        expect(one[name].length).toBeGreaterThan(0);
      for (const skill of one.skills)
        expect(skill).toMatchObject({
          id: expect.stringMatching(/.+/),
          name: expect.stringMatching(/.+/),
          description: expect.stringMatching(/.+/),
          tags: [expect.any(String)],
        });
    }
  });

  it("B-D1: has what the agent declares", async () => {
    const one = await card(`/agents/full${CARD}`, { "a2a-version": "1.0" });
    const { run: _run, inputModes, outputModes, extensions, streaming, ...declared } = full;
    expect(one).toMatchObject({
      ...declared,
      defaultInputModes: inputModes,
      defaultOutputModes: outputModes,
      capabilities: { streaming, pushNotifications: true, extendedAgentCard: false, extensions },
    });
  });

  it("B-D1: every interface of a card is served, in that version", async () => {
    const { supportedInterfaces } = await card(CARD, { "a2a-version": "1.0" });
    expect(supportedInterfaces[0]).toMatchObject({ protocolBinding: "JSONRPC", protocolVersion: "1.0" });
    for (const { url, protocolBinding, protocolVersion } of supportedInterfaces)
      await useInterface(url, protocolBinding, protocolVersion);
    const old = await card(CARD, { "a2a-version": "0.3" });
    await useInterface(old.url, old.preferredTransport, "0.3");
    for (const { url, transport } of old.additionalInterfaces) await useInterface(url, transport, "0.3");
  });
});

describe("R12, D2: the card for a client that names no version", () => {
  it("D2: is a hybrid that clients of both generations can use", async () => {
    const hybrid = await card(CARD);
    const v1 = await card(CARD, { "a2a-version": "1.0" });
    const v03 = await card(CARD, { "a2a-version": "0.3" });
    expect(hybrid).toMatchObject(v03);
    expect(hybrid.supportedInterfaces).toEqual(v1.supportedInterfaces);
    expect(hybrid.capabilities).toMatchObject(v1.capabilities);
  });

  it("D2: is a pure v1 card if the policy requires it, and v0.3 clients still get theirs", async () => {
    const strict = await serve([echo], { cardPolicy: "v1" });
    try {
      const one = await card(CARD, {}, strict.url);
      for (const name of Object.keys(one)) expect(V1_MEMBERS).toContain(name);
      const old = await card(CARD, { "a2a-version": "0.3" }, strict.url);
      expect(old.protocolVersion).toBe("0.3.0");
    } finally {
      await strict.stop();
    }
  });

  it("R12: the version may be named in the query", async () => {
    expect(await card(`${CARD}?A2A-Version=1.0`)).toEqual(await card(CARD, { "a2a-version": "1.0" }));
    expect(await card(`${CARD}?A2A-Version=0.3`)).toEqual(await card(CARD, { "a2a-version": "0.3" }));
  });
});

describe("B-D2: a card can be cached", () => {
  it("B-D2: it has a max-age and a Vary header", async () => {
    for (const headers of [{}, { "a2a-version": "1.0" }, { "a2a-version": "0.3" }]) {
      const response = await fetch(`${server.url}${CARD}`, { headers: headers as Record<string, string> });
      expect(response.headers.get("cache-control")).toMatch(/max-age=\d+/);
      expect(response.headers.get("etag")).toMatch(/^(W\/)?"[^"]+"$/);
      expect(Date.parse(response.headers.get("last-modified") ?? "")).toBeGreaterThan(0);
      expect(response.headers.get("vary")).toMatch(/a2a-version/i);
    }
  });

  it("B-D2: different forms of a card have different tags, the same form the same tag", async () => {
    const tag = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}${CARD}`, { headers })).headers.get("etag");
    const tags = [await tag({}), await tag({ "a2a-version": "1.0" }), await tag({ "a2a-version": "0.3" })];
    expect(new Set(tags).size).toBe(3);
    expect(await tag({})).toBe(tags[0]);
  });

  it("B-D2: If-None-Match with its tag is 304 without a body", async () => {
    const etag = (await fetch(`${server.url}${CARD}`)).headers.get("etag") ?? "";
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, "*"]) {
      const response = await fetch(`${server.url}${CARD}`, { headers: { "if-none-match": tags } });
      expect(response.status).toBe(304);
      expect(await response.text()).toBe("");
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.get("vary")).toMatch(/a2a-version/i);
      expect(response.headers.get("cache-control")).toMatch(/max-age/);
    }
  });

  it("B-D2: If-None-Match with another tag returns the card", async () => {
    for (const tags of ['"other"', "nonsense", ""]) {
      const response = await fetch(`${server.url}${CARD}`, { headers: { "if-none-match": tags } });
      expect(response.status).toBe(200);
    }
  });

  it("B-D2: If-Modified-Since compares dates, unless there is a tag", async () => {
    const first = await fetch(`${server.url}${CARD}`);
    const modified = first.headers.get("last-modified") ?? "";
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}${CARD}`, { headers })).status;
    expect(await status({ "if-modified-since": modified })).toBe(304);
    expect(await status({ "if-modified-since": "Thu, 01 Jan 2099 00:00:00 GMT" })).toBe(304);
    expect(await status({ "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT" })).toBe(200);
    expect(await status({ "if-modified-since": "yesterday" })).toBe(200);
    expect(await status({ "if-modified-since": modified, "if-none-match": '"other"' })).toBe(200);
  });

  it("B-D2: HEAD returns the headers of GET and no body", async () => {
    for (const path of [CARD, `/agents/full${CARD}`, "/agents"]) {
      const get = await fetch(`${server.url}${path}`);
      const head = await fetch(`${server.url}${path}`, { method: "HEAD" });
      expect(head.status).toBe(200);
      expect(await head.text()).toBe("");
      for (const name of ["etag", "content-type", "content-length", "last-modified", "vary", "cache-control"])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });
});

describe("B-D4: several agents on one host", () => {
  it("B-D4: each has its own card under its own path; the first is at the root, too", async () => {
    expect((await card(`/agents/echo${CARD}`)).name).toBe("echo");
    expect((await card(`/agents/full${CARD}`)).name).toBe("full");
    expect(await card(CARD)).toEqual(await card(`/agents/echo${CARD}`));
    expect((await card(`/agents/full${CARD}`)).url).toBe(`${server.url}/agents/full`);
  });

  it("B-D4: the card of an unknown agent is 404, in JSON", async () => {
    for (const path of [`/agents/nobody${CARD}`, `/agents/__proto__${CARD}`]) {
      const response = await fetch(`${server.url}${path}`);
      expect(response.status).toBe(404);
      const body = (await response.json()) as Loose;
      expect(body.error.message).toEqual(expect.any(String));
    }
  });

  it("B-D4: a list has all agents and their URLs", async () => {
    const { agents } = await card("/agents");
    expect(agents.map((one: Loose) => [one.name, one.default])).toEqual([
      ["echo", true],
      ["full", false],
    ]);
    for (const one of agents) {
      const card = (await (await fetch(one.card)).json()) as Loose;
      expect(card.name).toBe(one.name);
      await rpcResult(one.url, "SendMessage", V1.sendParams("hi"));
    }
  });

  it.each(["", "/"])("B-D4: an agent answers at its path and at the root, with %j appended", async slash => {
    for (const path of [slash, `/agents/echo${slash}`])
      expect(
        (await rpcResult(`${server.url}${path}`, "SendMessage", V1.sendParams("hi"))).task.status.state,
      ).toBe("TASK_STATE_COMPLETED");
  });
});

describe("B-D1: addresses in cards", () => {
  const FORWARDED = {
    "x-forwarded-host": "a2a.example.org",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/bots",
  };
  const urlOf = async (settings: object, headers: Record<string, string>): Promise<string> => {
    const other = await serve([echo], settings);
    try {
      const one = await card(CARD, headers, other.url);
      expect(one.supportedInterfaces[0].url).toBe(one.url);
      return one.url.replace(other.url, "SELF");
    } finally {
      await other.stop();
    }
  };

  it("B-D1: are those at which the server was reached", async () => {
    expect(await urlOf({}, {})).toBe("SELF/agents/echo");
  });

  it("B-D1: are the public ones if configured, whatever the headers contain", async () => {
    const publicUrl = "https://public.example/base";
    expect(await urlOf({ publicUrl }, FORWARDED)).toBe(`${publicUrl}/agents/echo`);
    expect(await urlOf({ publicUrl, trustProxy: true }, FORWARDED)).toBe(`${publicUrl}/agents/echo`);
  });

  it("B-D1: follow X-Forwarded-* only if the proxy is trusted", async () => {
    expect(await urlOf({}, FORWARDED)).toBe("SELF/agents/echo");
    expect(await urlOf({ trustProxy: true }, FORWARDED)).toBe("https://a2a.example.org/bots/agents/echo");
  });

  it("B-D1: follow the first of several proxies, and never invalid values", async () => {
    const host = {
      "x-forwarded-host": "first.example:8443, second.example",
      "x-forwarded-proto": "https, http",
    };
    expect(await urlOf({ trustProxy: true }, host)).toBe("https://first.example:8443/agents/echo");
    for (const bad of ["evil.example/path", 'a"b', "user@evil", "a b", ""]) {
      const url = await urlOf({ trustProxy: true }, { "x-forwarded-host": bad });
      expect(url).toBe("SELF/agents/echo");
    }
    const prefix = { "x-forwarded-prefix": '/a"><script>' };
    expect(await urlOf({ trustProxy: true }, prefix)).toBe("SELF/agents/echo");
  });
});
