import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { V1_SCHEMA as V1_PROTOBUF } from "../../src/protocol/a2a-v1/schema.ts";
import { V03_SCHEMA as V03_PROTOBUF } from "../../src/protocol/a2a-v03/schema.ts";
import { createCodecs } from "../../src/protocol/protobuf/codec.ts";
import type { ProtobufSchema } from "../../src/protocol/protobuf/schema.ts";
import { bindingsOf, expectMeaning } from "../support/bindings.ts";
import { type GuardedServer, type Issued, serveGuarded } from "../support/callers.ts";
import type { Loose } from "../support/official-dialects.ts";

/** Features for authenticated callers: the extended card, and stored credentials. */

const keyed: AgentDefinition = {
  name: "keyed",
  extendedCard: ({ tenant, principal, grants }) => ({
    description: `${principal} of ${tenant} may ${grants.join(" ")}`,
  }),
  async run(_task, ctx) {
    const found = await ctx.credentials("vendor");
    return found ? `I know ${found.token}` : ctx.askAuth({ name: "vendor", scheme: "bearer" });
  },
};
const other: AgentDefinition = { ...keyed, name: "other" };
const open: AgentDefinition = { ...keyed, name: "open", access: "public" };

let guarded: GuardedServer;
let alice: Issued;
let bob: Issued;
let reader: Issued;
beforeAll(async () => {
  guarded = await serveGuarded([keyed, other, open]);
  alice = await guarded.issue("alice");
  bob = await guarded.issue("bob");
  reader = await guarded.issue("reader", { grants: ["read"] });
});
afterAll(() => guarded.stop());

type Headers = Readonly<Record<string, string>>;
const callRest = async (path: string, headers: Headers, body?: object, verb = body ? "POST" : "GET") => {
  const response = await fetch(`${guarded.url}${path}`, {
    method: verb,
    headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Loose };
};
const send = async (headers: Headers, agent = "keyed", message: object = {}): Promise<Loose> => {
  const userMessage = {
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ text: "hi" }],
    ...message,
  };
  const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: userMessage } };
  const { result, error } = (await callRest(`/agents/${agent}`, headers, call)).body;
  return error ?? result.task;
};
const give = (headers: Headers, taskId: string, token: string, agent = "keyed") =>
  callRest("/credentials", headers, { agent, taskId, credentials: { token } });
const isAsking = (task: Loose): boolean => task.status.state === "TASK_STATE_AUTH_REQUIRED";

describe("the extended card", () => {
  it("B-D3: is refused to unauthenticated callers, on every transport", async () => {
    const bindings = bindingsOf(guarded.url, "keyed");
    for (const binding of bindings) {
      expectMeaning(await binding.call("GetExtendedAgentCard", {}), "unauthenticated");
      binding.close();
    }
    for (const path of ["/agents/keyed/agent/authenticatedExtendedCard", "/agents/open/extendedAgentCard"])
      expect((await callRest(path, {})).status).toBe(401);
  });

  it("B-D3: can differ for each caller, and must not be cached", async () => {
    const asked = await callRest("/agents/keyed/extendedAgentCard", alice.headers);
    expect(asked.body.description).toBe("alice of default may send read cancel push");
    expect(asked.headers.get("cache-control")).toBe("private, no-store");
    const few = await callRest("/agents/keyed/extendedAgentCard", reader.headers);
    expect(few.body.description).toBe("reader of default may read");
  });

  it("B-D3: is returned over gRPC, in both versions", async () => {
    for (const [protobuf, method] of [
      [V1_PROTOBUF, "GetExtendedAgentCard"],
      [V03_PROTOBUF, "GetAgentCard"],
    ] as const)
      expect(await askGrpc(protobuf, method)).toMatchObject({
        description: "bob of default may send read cancel push",
        capabilities: { streaming: true },
        securitySchemes: { tokens: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      });
  });
});

async function askGrpc(protobuf: ProtobufSchema, method: string): Promise<Loose> {
  const client = new Client(new URL(guarded.url).host, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({ ...bob.headers, "a2a-agent": "keyed" }))
    metadata.set(name, value);
  const { decode } = createCodecs(protobuf)("AgentCard");
  const path = `/${protobuf.package}.${protobuf.service}/${method}`;
  const { promise, resolve, reject } = Promise.withResolvers<Loose>();
  client.makeUnaryRequest(
    path,
    () => Buffer.alloc(0),
    decode,
    {},
    metadata,
    (error, card) => (error ? reject(error) : resolve(card as Loose)),
  );
  return promise.finally(() => client.close());
}

describe("cards", () => {
  it("B-D1: declare the authentication methods, in the members of each version", async () => {
    const card = async (path: string, version: string): Promise<Loose> =>
      (await callRest(path, { "a2a-version": version })).body;
    const path = "/agents/keyed/.well-known/agent-card.json";
    const v1 = await card(path, "1.0");
    const [name = ""] = Object.keys(v1.securitySchemes);
    expect(v1.securitySchemes[name].httpAuthSecurityScheme).toMatchObject({ scheme: "Bearer" });
    expect(v1.securityRequirements).toEqual([{ schemes: { [name]: { list: [] } } }]);
    const v03 = await card(path, "0.3");
    expect(v03.securitySchemes[name]).toMatchObject({ type: "http", scheme: "Bearer" });
    expect(v03.security).toEqual([{ [name]: [] }]);
    expect((await card(path, "0.1")).authentication).toEqual({ schemes: ["Bearer"] });
    expect((await card("/v1/agent-systems/keyed/.well-known/agent-card.json", "0.3")).authentication).toEqual(
      {
        schemes: ["Bearer"],
      },
    );
    expect((await card("/v1/a2a/agents/keyed/agent-card.json", "1.0")).security).toEqual([{ [name]: [] }]);
    expect((await card("/agents/keyed/agentCard", "1.0")).security).toEqual([{ [name]: [] }]);
    const langgraph = await card("/.well-known/agent-card.json?assistant_id=keyed", "1.0");
    expect(langgraph.security).toEqual([{ [name]: [] }]);
  });
});

describe("credentials", () => {
  it("are stored for one caller and one agent", async () => {
    const task = await send(alice.headers);
    expect((await give(alice.headers, task.id, "of alice")).status).toBe(202);
    await expect.poll(async () => JSON.stringify(await send(alice.headers))).toContain("I know of alice");
    expect(isAsking(await send(bob.headers))).toBe(true);
    expect(isAsking(await send(alice.headers, "other"))).toBe(true);
    expect((await callRest("/credentials?agent=keyed", alice.headers)).body.names).toEqual(["vendor"]);
    expect((await callRest("/credentials?agent=keyed", bob.headers)).body.names).toEqual([]);
    await callRest("/credentials/keyed/vendor", bob.headers, undefined, "DELETE");
    expect((await callRest("/credentials?agent=keyed", alice.headers)).body.names).toEqual(["vendor"]);
  });

  it("cannot be given to a task of another caller: the response is that for a missing task", async () => {
    const task = await send(bob.headers);
    const foreign = await give(alice.headers, task.id, "x");
    const absent = await give(alice.headers, "no-such-task", "x");
    expect([foreign.status, foreign.body.error.message]).toEqual([404, absent.body.error.message]);
    expect(absent.status).toBe(404);
  });

  it("of an unknown agent are not found", async () => {
    for (const verb of ["GET", "DELETE"])
      expect(
        (
          await callRest(
            verb === "GET" ? "/credentials?agent=no" : "/credentials/no/x",
            bob.headers,
            undefined,
            verb,
          )
        ).status,
      ).toBe(404);
  });

  it("need an authenticated caller with permission to send", async () => {
    const task = await send(bob.headers);
    expect((await give({}, task.id, "x")).status).toBe(401);
    expect((await callRest("/credentials", {})).status).toBe(401);
    expect((await callRest("/credentials/keyed/vendor", {}, undefined, "DELETE")).status).toBe(401);
    expect((await give(reader.headers, task.id, "x")).status).toBe(403);
    expect((await callRest("/credentials/keyed/vendor", reader.headers, undefined, "DELETE")).status).toBe(
      403,
    );
  });

  it("of anonymous callers are not stored: other anonymous callers would use them", async () => {
    const task = await send({}, "open");
    expect(isAsking(task)).toBe(true);
    expect(JSON.stringify(task)).not.toContain("/credentials");
    const refused = await give({}, task.id, "planted", "open");
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      "Credentials are stored only for authenticated callers",
    ]);
    expect(isAsking(await send({}, "open"))).toBe(true);
  });
});
