import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { echo } from "../support/agents.ts";
import { type Loose, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md B-D3; v1 §3.1.11: the extended card, for authenticated callers. */

const skills = [{ id: "secret", name: "Secret", description: "Only for those who are known", tags: ["x"] }];
const known: AgentDefinition = {
  ...echo,
  name: "known",
  description: "Public",
  async extendedCard({ tenant, principal, grants }) {
    return { description: `For ${principal} of ${tenant}`, version: grants.join(" "), skills };
  },
};
const fixed: AgentDefinition = { ...echo, name: "fixed", extendedCard: { skills } };
const broken: AgentDefinition = {
  ...echo,
  name: "broken",
  extendedCard: () => {
    throw new Error("the password of the database is hunter2");
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await serve([known, fixed, broken, echo]);
});
afterAll(() => server.stop());

const CARD = "/.well-known/agent-card.json";
const card = async (agent: string, version: string, name = CARD): Promise<Loose> =>
  (await fetch(`${server.url}/agents/${agent}${name}`, { headers: { "a2a-version": version } })).json();

describe("B-D3: the card declares whether there is an extended card", () => {
  it("B-D3: in the members of each version", async () => {
    for (const [agent, has] of [
      ["known", true],
      ["fixed", true],
      ["echo", false],
    ] as const) {
      expect((await card(agent, "1.0")).capabilities.extendedAgentCard).toBe(has);
      expect((await card(agent, "0.3")).supportsAuthenticatedExtendedCard).toBe(has);
      expect((await card(agent, "0.2", "/.well-known/agent.json")).supportsAuthenticatedExtendedCard).toBe(
        has,
      );
      const both: Loose = await (await fetch(`${server.url}/agents/${agent}${CARD}`)).json();
      expect(both.capabilities.extendedAgentCard).toBe(has);
      expect(both.supportsAuthenticatedExtendedCard).toBe(has);
    }
  });

  it("B-D4: the public card has none of its content", async () => {
    for (const version of ["1.0", "0.3", "0.2", "0.1"]) {
      const text = JSON.stringify(await card("known", version));
      expect(text).not.toContain("Only for those");
      expect(text).toContain("Public");
    }
  });
});

const FORMS: readonly (readonly [name: string, read: () => Promise<Loose>])[] = [
  [
    "v1.0 JSON-RPC",
    () => rpcResult(`${server.url}/agents/known`, V1.extendedCard, {}, { "a2a-version": "1.0" }),
  ],
  ["v1.0 REST", () => get("/agents/known/extendedAgentCard", { "a2a-version": "1.0" })],
  ["v0.3 JSON-RPC", () => rpcResult(`${server.url}/agents/known`, V03.extendedCard, undefined)],
  ["v0.3 REST", () => get("/agents/known/v1/card")],
  ["v0.2", () => get("/agents/known/agent/authenticatedExtendedCard")],
];

async function get(path: string, headers: Record<string, string> = {}): Promise<Loose> {
  const response = await fetch(`${server.url}${path}`, { headers });
  expect([path, response.status]).toEqual([path, 200]);
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("vary")).toContain("Authorization");
  expect(response.headers.get("etag")).toBeNull();
  return response.json();
}

describe("B-D3: the extended card", () => {
  it.each(FORMS)("B-D3: is returned in %s, and may depend on the caller", async (_name, read) => {
    const found = await read();
    expect(found).toMatchObject({
      name: "known",
      description: "For anonymous of default",
      version: expect.stringContaining("send"),
      skills,
    });
  });

  it("B-D3: members that it does not set are those of the card", async () => {
    const open = await card("fixed", "1.0");
    const more = await rpcResult(`${server.url}/agents/fixed`, V1.extendedCard, {}, { "a2a-version": "1.0" });
    expect(more).toEqual({ ...open, skills });
  });

  it("B-D3: of an agent that has none is refused, in each version", async () => {
    const call = (method: string, version: string): Promise<Response> =>
      fetch(`${server.url}/agents/echo`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": version },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method }),
      });
    for (const [method, version] of [
      [V1.extendedCard, "1.0"],
      [V03.extendedCard, "0.3"],
    ] as const)
      expect(((await (await call(method, version)).json()) as Loose).error.message).toContain(
        "has no extended card",
      );
    const old = await fetch(`${server.url}/agents/echo/agent/authenticatedExtendedCard`);
    expect(old.status).toBe(404);
  });

  it("B-D3: the reason why it could not be created is in the log only", async () => {
    const response = await fetch(`${server.url}/agents/broken/agent/authenticatedExtendedCard`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("hunter2");
    expect(server.log.lines.at(-1)).toMatchObject({ level: "error", text: "a call failed" });
  });
});
