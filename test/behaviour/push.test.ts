import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo, replier } from "../support/agents.ts";
import { rpc, until } from "../support/client.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcError, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#push: push notifications over real sockets to real receivers. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const puppet = createScriptedAgent();
const silent = { ...echo, name: "silent", push: false };
let server: TestServer;
let hook: Receiver;
const at = (name: string): string => `${server.url}/agents/${name}`;

beforeAll(async () => {
  server = await serve([echo, puppet.definition, asker, replier, silent]);
  hook = await openReceiver();
});
afterAll(async () => {
  await server.stop();
  await hook.close();
});
afterEach(() => {
  hook.all.length = 0;
  hook.answer = () => ({ status: 200 });
});

const CREATE = "CreateTaskPushNotificationConfig";
const GET = "GetTaskPushNotificationConfig";
const LIST = "ListTaskPushNotificationConfigs";
const DELETE = "DeleteTaskPushNotificationConfig";

let paths = 0;
const newHook = (): string => `${hook.url}/${++paths}`;
const pathOf = (url: string): string => new URL(url).pathname;

const setting = (url: string, more: object = {}): object => ({
  taskPushNotificationConfig: { url, ...more },
});
const inline = (text: string, url: string, more: object = {}): object =>
  V1.sendParams(text, {}, { configuration: { ...setting(url, more), ...V1.nonBlocking } });

/** A running task of the scripted agent. */
async function begin(): Promise<string> {
  const { task } = await rpcResult(
    at("puppet"),
    V1.send,
    V1.sendParams("go", {}, { configuration: V1.nonBlocking }),
  );
  puppet.send(task.id, ctx => ctx.status("at it"));
  await until(
    async () => (await rpcResult(at("puppet"), V1.get, { id: task.id })).status.message !== undefined,
  );
  return task.id;
}
const create = (taskId: string, more: object): Promise<Loose> =>
  rpcResult(at("puppet"), CREATE, { taskId, ...more });

/** A delivery in one word. */
function summary({ body }: Received): string {
  const { kind, value, state } = V1.toItem({ result: body });
  return kind === "artifact" ? `artifact ${value.artifact.parts[0].text}` : `${kind} ${state}`;
}

describe("push configs", () => {
  it("B-P1: without the capability all four operations and a config in a send are refused", async () => {
    const { url } = hook;
    const calls: readonly [string, object][] = [
      [CREATE, { taskId: UNKNOWN, url }],
      [GET, { taskId: UNKNOWN, id: "a" }],
      [LIST, { taskId: UNKNOWN }],
      [DELETE, { taskId: UNKNOWN, id: "a" }],
      [V1.send, inline("x", url)],
      [V1.stream, inline("x", url)],
    ];
    for (const [method, params] of calls)
      expect((await rpcError(at("silent"), method, params)).code, method).toBe(-32003);
  });

  it("B-P2: a config is returned with its id; a second one with the same id replaces it; there may be several", async () => {
    const taskId = await begin();
    const first = await create(taskId, { url: newHook() });
    expect(first).toMatchObject({ taskId, id: expect.stringMatching(/./) });
    const named = await create(taskId, { id: "mine", url: newHook() });
    const again = await create(taskId, { id: "mine", url: newHook() });
    expect([named.id, again.id]).toEqual(["mine", "mine"]);
    const { configs } = await rpcResult(at("puppet"), LIST, { taskId });
    expect(configs.map((one: Loose) => [one.id, one.url])).toEqual([
      [first.id, first.url],
      ["mine", again.url],
    ]);
    for (const params of [{ taskId: UNKNOWN, url: hook.url }])
      expect((await rpcError(at("puppet"), CREATE, params)).code).toBe(-32001);
  });

  it("B-P2: the same URL without an id is the same config, another one is another", async () => {
    const taskId = await begin();
    const url = newHook();
    const [one, two, other] = [
      await create(taskId, { url }),
      await create(taskId, { url }),
      await create(taskId, { url: newHook() }),
    ];
    expect([two.id, other.id !== one.id]).toEqual([one.id, true]);
    expect((await rpcResult(at("puppet"), LIST, { taskId })).configs).toHaveLength(2);
  });

  it("B-P3: get of an unknown config is TaskNotFound; deleting twice succeeds, and nothing is delivered afterwards", async () => {
    const taskId = await begin();
    const url = newHook();
    await create(taskId, { id: "a", url });
    await hook.got(1, pathOf(url));
    expect((await rpcError(at("puppet"), GET, { taskId, id: "b" })).code).toBe(-32001);
    for (let i = 0; i < 2; i++)
      expect(await rpcResult(at("puppet"), DELETE, { taskId, id: "a" })).toEqual({});
    expect((await rpcResult(at("puppet"), LIST, { taskId })).configs ?? []).toEqual([]);
    const other = newHook();
    await create(taskId, { id: "b", url: other });
    puppet.end(taskId);
    await until(() => hook.at(pathOf(other)).map(summary).includes("status completed"));
    expect(hook.at(pathOf(url))).toHaveLength(1);
  });

  it("B-P4: a config for an ended task is accepted, and the end is delivered", async () => {
    const { task } = await rpcResult(at("echo"), V1.send, V1.sendParams("hi"));
    const url = newHook();
    await rpcResult(at("echo"), CREATE, { taskId: task.id, url });
    const [only] = await hook.got(1, pathOf(url));
    expect(only?.body.task).toMatchObject({ id: task.id, status: { state: "TASK_STATE_COMPLETED" } });
  });

  it("B-P5: configs can be read as long as their task", async () => {
    const taskId = await begin();
    await create(taskId, { id: "a", url: newHook() });
    puppet.end(taskId);
    await until(
      async () => V1.stateOf(await rpcResult(at("puppet"), V1.get, { id: taskId })) === "completed",
    );
    expect(await rpcResult(at("puppet"), GET, { taskId, id: "a" })).toMatchObject({ id: "a" });
  });

  it("lists are paged", async () => {
    const taskId = await begin();
    for (const id of ["a", "b", "c"]) await create(taskId, { id, url: newHook() });
    const first = await rpcResult(at("puppet"), LIST, { taskId, pageSize: 2 });
    const rest = await rpcResult(at("puppet"), LIST, { taskId, pageSize: 2, pageToken: first.nextPageToken });
    const ids = (page: Loose): string[] => page.configs.map((one: Loose) => one.id);
    expect([ids(first), ids(rest), rest.nextPageToken || ""]).toEqual([["a", "b"], ["c"], ""]);
    expect((await rpcError(at("puppet"), LIST, { taskId, pageToken: "x" })).code).toBe(-32602);
  });

  it("a task has a maximum number of configs", async () => {
    const taskId = await begin();
    for (let i = 0; i < 10; i++) await create(taskId, { id: `${i}`, url: hook.url });
    const error = await rpcError(at("puppet"), CREATE, { taskId, url: newHook() });
    expect([error.code, error.message]).toEqual([-32602, expect.stringMatching(/at most 10/)]);
  });

  it("B-P8: secrets are not returned, neither in a response nor in a list, and not logged", async () => {
    const taskId = await begin();
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const config = {
      id: "a",
      url: newHook(),
      token: "t0ken",
      secret,
      authentication: { scheme: "Bearer", credentials: "cr3d" },
    };
    const answers = [
      await create(taskId, config),
      await rpcResult(at("puppet"), GET, { taskId, id: "a" }),
      await rpcResult(at("puppet"), LIST, { taskId }),
      await (await fetch(`${server.url}/admin/pushes?task=${taskId}`)).json(),
      server.log.lines,
    ];
    expect(answers[1]).toMatchObject({ authentication: { scheme: "Bearer" } });
    for (const one of answers) expect(JSON.stringify(one)).not.toMatch(/t0ken|cr3d|whsec/);
  });

  it.each([
    [{ url: "http://a.example/" }, "url"],
    [{ url: "https://10.0.0.1/" }, "url"],
    [{ url: "https://user:pw@a.example/" }, "url"],
    [{ url: "https://a.example/\r\nX: y" }, "url"],
    [{ url: "ftp://a.example/" }, "url"],
    [{ url: "https://a.example/", token: "a\r\nb" }, "token"],
    [{ url: "https://a.example/", secret: "too short" }, "secret"],
    [
      { url: "https://a.example/", authentication: { scheme: "Be arer", credentials: "x" } },
      "authentication.scheme",
    ],
    [
      { url: "https://a.example/", authentication: { scheme: "Bearer", credentials: "x\n" } },
      "authentication.credentials",
    ],
  ])(
    "B-P7, B-P8: an invalid or forbidden URL is refused, and the error names the field: %j",
    async (config, field) => {
      const taskId = await begin();
      for (const [method, params, path] of [
        [CREATE, { taskId, ...config }, field],
        [V1.send, inline("x", config.url, config), `configuration.taskPushNotificationConfig.${field}`],
      ] as const) {
        const error = await rpcError(at("puppet"), method, params);
        expect([error.code, error.message]).toEqual([-32602, expect.stringContaining(path)]);
      }
    },
  );
});

describe("deliveries", () => {
  it("B-P6, B-P9, D7: every change of the status and every artifact is delivered in order, in v1", async () => {
    const taskId = await begin();
    const url = newHook();
    const statusOnly = newHook();
    await create(taskId, {
      id: "all",
      url,
      token: "tok",
      authentication: { scheme: "Bearer", credentials: "abc" },
    });
    await create(taskId, { id: "status", url: statusOnly, events: "status" });
    await hook.got(1, pathOf(url));
    puppet.send(taskId, ctx => ctx.text("one "));
    puppet.send(taskId, ctx => ctx.status("nearly"));
    puppet.send(taskId, ctx => ctx.text("two"));
    puppet.end(taskId);
    await until(() => hook.at(pathOf(url)).map(summary).includes("status completed"));
    await until(() => hook.at(pathOf(statusOnly)).map(summary).includes("status completed"));
    const plots = hook.at(pathOf(url)).map(summary);
    expect(plots).toEqual([
      "task working",
      "artifact one ",
      "status working",
      "artifact two",
      "status completed",
    ]);
    expect(hook.at(pathOf(statusOnly)).map(summary)).toEqual([
      "task working",
      "status working",
      "status completed",
    ]);
    for (const { headers, body } of hook.at(pathOf(url))) {
      expect(headers).toMatchObject({
        "content-type": "application/a2a+json",
        authorization: "Bearer abc",
        "x-a2a-notification-token": "tok",
        "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
        "dragoman-signature": expect.stringMatching(/^[\w-]+\.\.[\w-]+$/),
      });
      expect(Object.keys(body)).toHaveLength(1);
    }
    expect(new Set(hook.all.map(one => one.id)).size).toBe(hook.all.length);
  });

  it("B-P6: v0.3 gets the bare task each time", async () => {
    const url = newHook();
    const config = { pushNotificationConfig: { url, token: "t" }, blocking: false };
    const { id } = await rpcResult(at("echo"), V03.send, V03.sendParams("hi", {}, { configuration: config }));
    await until(() => hook.at(pathOf(url)).at(-1)?.body.status.state === "completed");
    for (const { body, headers } of hook.at(pathOf(url))) {
      expect(body).toMatchObject({ kind: "task", id });
      expect(headers).toMatchObject({ "content-type": "application/json", "x-a2a-notification-token": "t" });
    }
  });

  it("B-P6: a config uses the dialect in which it was set, whichever dialect changes the task", async () => {
    const taskId = await begin();
    const url = newHook();
    await rpcResult(at("puppet"), "tasks/pushNotificationConfig/set", {
      taskId,
      pushNotificationConfig: { url },
    });
    await rpcResult(at("puppet"), V1.cancel, { id: taskId });
    await until(() => hook.at(pathOf(url)).at(-1)?.body.status.state === "canceled");
  });

  it("B-P6: any 2xx is a success; anything else is retried, and a retry has the same id", async () => {
    const url = newHook();
    const answers = [500, 404, 302, 429, 201] as const;
    hook.answer = (_, nth) => ({ status: answers[nth - 1] ?? 299, headers: { location: "/elsewhere" } });
    await rpcResult(at("echo"), V1.send, inline("hi", url));
    await until(() => hook.at(pathOf(url)).map(summary).includes("status completed"));
    const [first, second, third, fourth, fifth, next] = hook.at(pathOf(url));
    expect(new Set([first, second, third, fourth, fifth].map(one => one?.id)).size).toBe(1);
    expect(new Set([first, second, third, fourth, fifth].map(one => one?.text)).size).toBe(1);
    expect(next?.id).not.toBe(first?.id);
    expect(hook.at("/elsewhere")).toEqual([]);
  });

  it("B-P9: a bare message is not delivered, a task of the same agent is", async () => {
    const url = newHook();
    const reply = await rpcResult(at("replier"), V1.send, inline("hi", url));
    expect(reply.message).toBeDefined();
    const undeclared = await serve([{ name: "either", run: (_, ctx) => ctx.reply("bare") }]);
    await rpcResult(undeclared.url, V1.send, V1.sendParams("hi", {}, { configuration: setting(url) }));
    const marker = newHook();
    await rpcResult(at("echo"), V1.send, inline("hi", marker));
    await until(() => hook.at(pathOf(marker)).map(summary).includes("status completed"));
    await undeclared.stop();
    expect(hook.at(pathOf(url))).toEqual([]);
  });

  it("B-P10: a config that is set late begins with the task as it is, unless it opts out", async () => {
    const taskId = await begin();
    puppet.send(taskId, ctx => ctx.text("before"));
    const texts = async (): Promise<Loose> =>
      (await rpcResult(at("puppet"), V1.get, { id: taskId })).artifacts;
    await until(async () => (await texts()) !== undefined);
    const url = newHook();
    await create(taskId, { url });
    puppet.end(taskId);
    await until(() => hook.at(pathOf(url)).length >= 2);
    const [first, second] = hook.at(pathOf(url));
    expect(first?.body.task.artifacts[0].parts[0].text).toBe("before");
    expect(summary(second as Received)).toBe("status completed");

    const other = await serve([echo], { pushSnapshot: false });
    const { task } = await rpcResult(other.url, V1.send, V1.sendParams("hi"));
    const [late, soon] = [newHook(), newHook()];
    await rpcResult(other.url, CREATE, { taskId: task.id, url: late });
    await rpcResult(other.url, V1.send, inline("hi", soon));
    await until(() => hook.at(pathOf(soon)).map(summary).includes("status completed"));
    expect(hook.at(pathOf(soon)).map(summary)[0]).toBe("status submitted");
    await other.stop();
    expect(hook.at(pathOf(late))).toEqual([]);
  });

  it("B-P11: a config in the first message misses nothing; one in a later message begins with that message", async () => {
    const url = newHook();
    const { task } = await rpcResult(
      at("asker"),
      V1.send,
      V1.sendParams("hi", {}, { configuration: setting(url) }),
    );
    await until(() => hook.at(pathOf(url)).map(summary).includes("status input-required"));
    expect(hook.at(pathOf(url)).map(summary)).toEqual([
      "task submitted",
      "status working",
      "status input-required",
    ]);
    const later = newHook();
    const answer = V1.sendParams("red", { taskId: task.id }, { configuration: setting(later) });
    await rpcResult(at("asker"), V1.send, answer);
    await until(() => hook.at(pathOf(later)).map(summary).includes("status completed"));
    expect(hook.at(pathOf(later)).map(summary)).toEqual([
      "task submitted",
      "status working",
      "artifact You chose red",
      "status completed",
    ]);
    expect(hook.at(pathOf(url)).map(summary).slice(3)).toEqual([
      "status submitted",
      "status working",
      "artifact You chose red",
      "status completed",
    ]);
  });

  it("a trace continues at the receiver", async () => {
    const url = newHook();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await rpc(at("echo"), V1.send, inline("hi", url), { traceparent });
    const [first] = await hook.got(1, pathOf(url));
    expect(first?.headers.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
  });

  it.each(OFFICIAL_DIALECTS)("$name: a card declares whether push is supported", async dialect => {
    const card = async (name: string): Promise<Loose> =>
      (
        await fetch(`${at(name)}/.well-known/agent-card.json`, {
          headers: { "A2A-Version": dialect.version },
        })
      ).json();
    expect((await card("echo")).capabilities.pushNotifications).toBe(true);
    expect((await card("silent")).capabilities.pushNotifications).toBe(false);
  });
});
