import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { JSON_FORMAT } from "../../src/binding/json-format.ts";
import { toAsyncIterable } from "../../src/lib/batch-source.ts";
import { type ApiKey, DEFAULT_PERMISSIONS } from "../../src/model/index.ts";
import type { Agent, Frame, WireCall, WireReply } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { type WiredServer, wireServer } from "../../src/server/wiring.ts";
import { createTestLog, SETTINGS, tempFolder } from "../support/server.ts";

/**
 * Random concurrent operations of random callers over random ids, names and tenants. Every message of a
 * caller has a mark, and so has the reply to it: the mark of another caller in a response, or in the store,
 * is a leak.
 */

const STEPS = 10_000;
const AT_ONCE = 25;

interface RandomCaller {
  readonly tenant: string;
  readonly name: string;
  readonly mark: string;
  readonly key: string;
  /** Tasks that this caller has canceled, by the ids of the server or its own. */
  readonly canceled: Set<string>;
}
const CALLERS: readonly RandomCaller[] = ["acme", "beta", "gamma"].flatMap(tenant =>
  ["alice", "bob", "carol"].map(name => ({
    tenant,
    name,
    mark: `<${tenant}.${name}>`,
    key: `the key of ${tenant} ${name}`,
    canceled: new Set<string>(),
  })),
);
const KEYS: readonly ApiKey[] = CALLERS.map(({ tenant, name, key }) => ({
  principal: name,
  tenants: [tenant],
  grants: DEFAULT_PERMISSIONS,
  agents: undefined,
  hash: createHash("sha256").update(key).digest("hex"),
}));
const MARK = /<\w+\.\w+>/g;

/** Replies with the message and the earlier messages of the context; every other time it asks first. */
const teller: AgentDefinition = {
  name: "teller",
  async *run(task, ctx) {
    const before = (await ctx.history).map(message => JSON.stringify(message.parts));
    const shelved = await ctx.storage.get("last");
    await ctx.storage.put([{ key: "last", value: task.text }]);
    if (task.turn === 1 && task.text.includes("?")) yield ctx.ask(`What else, ${task.text}?`);
    else yield ctx.text([task.text, JSON.stringify(shelved ?? ""), ...before].join(" "));
  },
};

async function startServer(data: string): Promise<WiredServer> {
  const settings = { ...SETTINGS, data, auth: ["api-key"] as const, apiKeys: KEYS, drainMs: 0 };
  const agents = [toAgent(teller), toAgent({ ...teller, name: "other" })];
  const defaultAgent = (agents[0] as Agent).name;
  const server = await wireServer({
    settings,
    agents,
    defaultAgent,
    log: createTestLog(),
    addresses: {},
    hasGrpc: false,
  });
  server.start();
  return server;
}

/** A seeded random generator. */
function createChance(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (count: number): number => Math.floor(next() * count),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
    is: (share: number): boolean => next() < share,
  };
}
type Chance = ReturnType<typeof createChance>;

const NO_QUERY = new URLSearchParams();
const OTHER = { agent: "other" };

class World {
  readonly #server: WiredServer;
  readonly #chance: Chance;
  /** All ids that any caller has seen, with their owners. */
  readonly owners = new Map<string, RandomCaller>();
  #ids: string[] = ["01980000-0000-7000-8000-000000000000", "nothing"];
  answers = 0;

  constructor(server: WiredServer, chance: Chance) {
    this.#server = server;
    this.#chance = chance;
  }

  async step(): Promise<void> {
    const caller = this.#chance.pick(CALLERS);
    const [method, params, headers] = this.#ask(caller);
    const before = new Set(this.owners.keys());
    const response = await this.call(caller, method, params, headers);
    this.#look(caller, method, JSON.stringify(params), response, before);
  }

  #ask(caller: RandomCaller): readonly [string, object, Record<string, string>?] {
    const chance = this.#chance;
    const id = chance.pick(this.#ids);
    const hook = `hook-${chance.below(3)}`;
    const tenant = chance.is(0.1) ? { tenant: chance.pick(CALLERS).tenant } : {};
    const contextId = chance.is(0.5) ? { contextId: `context-${chance.below(4)}` } : {};
    const message = {
      messageId: `message-${chance.below(50)}`,
      role: "ROLE_USER",
      parts: [{ text: `${caller.mark}${chance.is(0.4) ? "?" : ""}` }],
    };
    const old = {
      ...message,
      role: "user",
      parts: [{ type: "text", kind: "text", text: `${caller.mark}?` }],
    };
    const alias = `my-task-${chance.below(5)}`;
    const key = chance.is(0.3) ? { "idempotency-key": `key-${chance.below(20)}` } : {};
    const url = `https://hooks.example/${caller.tenant}.${caller.name}`;
    return chance.pick<readonly [string, object, Record<string, string>?]>([
      ["SendMessage", { ...tenant, message: { ...message, ...contextId } }, key],
      ["SendStreamingMessage", { ...tenant, message: { ...message, ...contextId } }, key],
      ["SendMessage", { ...tenant, message: { ...message, taskId: id } }, key],
      ["SendStreamingMessage", { ...tenant, message: { ...message, taskId: id, ...contextId } }],
      ["message/send", { message: { kind: "message", ...old, taskId: id } }],
      ["tasks/send", { id: chance.is(0.5) ? alias : id, message: old }],
      ["tasks/get", { id: chance.is(0.5) ? alias : id }],
      ["GetTask", { ...tenant, id }],
      ["ListTasks", { ...tenant, ...contextId, pageSize: 100, includeArtifacts: true }],
      ["CancelTask", { ...tenant, id }],
      ["tasks/cancel", { id }],
      ["SubscribeToTask", { ...tenant, id }],
      ["tasks/resubscribe", { id }],
      ["CreateTaskPushNotificationConfig", { ...tenant, taskId: id, id: hook, url, token: caller.mark }],
      ["GetTaskPushNotificationConfig", { ...tenant, taskId: id, id: hook }],
      ["ListTaskPushNotificationConfigs", { ...tenant, taskId: id }],
      ["DeleteTaskPushNotificationConfig", { ...tenant, taskId: id, id: hook }],
    ]);
  }

  /** A whole response; of a stream only the first events. */
  async call(
    caller: RandomCaller,
    method: string,
    params: object,
    headers: Record<string, string> = {},
    agent: Readonly<Record<string, string>> = this.#chance.is(0.8) ? {} : OTHER,
  ): Promise<string> {
    const controller = new AbortController();
    const isV1 = /^[A-Z]/.test(method);
    const call: WireCall = {
      transport: "jsonrpc",
      endpoint: "agent" in agent ? "/agents/{agent}" : "/",
      vars: agent,
      headers: { "x-api-key": caller.key, ...(isV1 && { "a2a-version": "1.0" }), ...headers },
      certificate: () => undefined,
      query: NO_QUERY,
      base: () => "http://localhost",
      method,
      params: params as WireCall["params"],
      bytes: 0,
      metadata: undefined,
      signal: () => controller.signal,
    };
    const incoming = {
      caller: call,
      agent: agent.agent,
      isPublic: false,
      format: JSON_FORMAT,
      read: () => call,
      withoutBody: () => call,
    };
    return this.#read(await this.#server.pipeline.handle(incoming), method, controller);
  }

  async #read(reply: WireReply, method: string, controller: AbortController): Promise<string> {
    if (reply.kind === "unary") return reply.body;
    if (reply.kind === "fault") return JSON.stringify(reply.fault);
    const isOpen = /ubscribe/.test(method);
    const frames: Frame[] = [];
    for await (const bunch of toAsyncIterable(reply.frames, controller.signal)) {
      frames.push(...bunch);
      if (isOpen) controller.abort();
    }
    return JSON.stringify(frames);
  }

  #look(
    caller: RandomCaller,
    method: string,
    request: string,
    response: string,
    before: ReadonlySet<string>,
  ): void {
    this.answers += 1;
    for (const mark of response.match(MARK) ?? [])
      if (mark !== caller.mark) throw new Leak(method, request, response);
    for (const id of response.match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}/g) ?? []) {
      const owner = this.owners.get(id);
      if (owner && owner !== caller && before.has(id) && !request.includes(id))
        throw new Leak(method, request, response);
      if (!owner && !request.includes(id)) this.#meet(id, caller);
    }
    if (/ancel/.test(method)) this.#note(caller, response);
  }

  #meet(id: string, caller: RandomCaller): void {
    this.owners.set(id, caller);
    this.#ids.push(id);
    if (this.#ids.length > 300) this.#ids = this.#ids.slice(-200);
  }

  #note(caller: RandomCaller, response: string): void {
    const { id, status } = JSON.parse(response) as { id?: string; status?: { state?: string } };
    if (id !== undefined && /canceled/i.test(status?.state ?? "")) caller.canceled.add(id);
  }
}

class Leak extends Error {
  constructor(method: string, request: string, response: string) {
    super(`${method} ${request} returned data of another caller: ${response.slice(0, 2_000)}`);
  }
}

/** Old dialects return the ids that callers chose: here they are replaced by the server's. */
async function canceledBy(world: World, caller: RandomCaller): Promise<ReadonlySet<string>> {
  const canceled = new Set<string>();
  for (const id of caller.canceled)
    for (const agent of [{}, OTHER])
      canceled.add(JSON.parse(await world.call(caller, "GetTask", { id }, {}, agent)).id);
  return canceled;
}

/** At the end every caller finds exactly its own data. */
async function checkAll(world: World): Promise<number> {
  let tasks = 0;
  for (const caller of CALLERS) {
    const canceled = await canceledBy(world, caller);
    for (let pageToken = ""; ; ) {
      const request = { pageSize: 100, pageToken, includeArtifacts: true };
      const page = JSON.parse(await world.call(caller, "ListTasks", request));
      for (const task of page.tasks ?? []) {
        tasks += 1;
        for (const mark of JSON.stringify(task).match(MARK) ?? []) expect(mark).toBe(caller.mark);
        if (task.status.state === "TASK_STATE_CANCELED") expect(canceled).toContain(task.id);
        const hooks = await world.call(caller, "ListTaskPushNotificationConfigs", { taskId: task.id });
        for (const owner of hooks.match(/hooks\.example\/[\w.]+/g) ?? [])
          expect(owner).toBe(`hooks.example/${caller.tenant}.${caller.name}`);
      }
      pageToken = page.nextPageToken;
      if (!pageToken) break;
    }
  }
  return tasks;
}

describe.each(["memory", "sqlite"])("random callers over %s", kind => {
  it("never read or change the data of others", async () => {
    const seed = Date.now() % 2 ** 31;
    const folder = tempFolder();
    const server = await startServer(kind === "memory" ? ":memory:" : folder.path);
    const world = new World(server, createChance(seed));
    for (const caller of CALLERS) caller.canceled.clear();
    try {
      for (let done = 0; done < STEPS; done += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => world.step()));
      expect(world.answers).toBe(STEPS);
      expect(await checkAll(world)).toBeGreaterThan(STEPS / 50);
    } catch (error) {
      throw new Error(`with the seed ${seed}`, { cause: error });
    } finally {
      await server.close([]);
      folder.remove();
    }
  }, 180_000);
});
