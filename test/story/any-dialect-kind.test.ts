import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent } from "../support/agents.ts";
import { openStream, type SseEvent } from "../support/client.ts";
import {
  type Loose,
  rpcResult,
  type TestDialect,
  untilState,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * A task belongs to no dialect: a task started in v0.2, simple_a2a or Arbiter continues in v1.0 and v0.3, and
 * back.
 */

interface DialectCase {
  readonly name: string;
  readonly mount: string;
  readonly version: string;
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly cancel: string;
  readonly subscribe: string;
  /** `task`: undefined for a new one. */
  sendParams(text: string, task?: string): object;
  /** The parameters that name a task. */
  named(id: string): object;
  taskIn(result: Loose): Loose;
  stateIn(frame: Loose): string | undefined;
  /** Callers of Arbiter cannot continue a task. */
  readonly mute?: true;
}

const official = (base: TestDialect, version: string = base.version): DialectCase => ({
  ...base,
  name: `v${version}`,
  mount: "/agents/",
  version,
  sendParams: (text, taskId) => base.sendParams(text, taskId === undefined ? {} : { taskId }),
  named: id => ({ id }),
  stateIn: frame => base.toItem(frame).state,
});

const NEW: readonly DialectCase[] = [
  official(V03, "0.2"),
  {
    ...official(V03, "1.0"),
    name: "simple_a2a",
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    sendParams: (text, id) => ({
      message: { messageId: "m", role: "user", parts: [{ text, kind: "text" }] },
      ...(id && { id }),
    }),
    named: taskId => ({ taskId }),
    taskIn: result => result,
    stateIn: frame => frame.result.status?.state.replace("_", "-"),
  },
  { ...official(V03, "1.0"), name: "Arbiter", mount: "/v1/a2a/agents/", mute: true },
];
const OLD: readonly DialectCase[] = [official(V1), official(V03)];
const PAIRS = NEW.flatMap(one =>
  OLD.flatMap(other => [
    { maker: one, other },
    { maker: other, other: one },
  ]),
);
const CONTINUED = PAIRS.filter(({ other }) => !other.mute);

const puppet = createScriptedAgent();
let server: TestServer;
beforeAll(async () => {
  server = await serve([asker, puppet.definition], { cancelGraceMs: 100 });
});
afterAll(() => server.stop());

const lower = (state: string): string => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
const stateOf = (task: Loose): string => lower(task.status.state);
const lastState = (dialect: DialectCase, events: readonly SseEvent[]): string | undefined =>
  dialect.stateIn(events.at(-1)?.data);

function call(dialect: DialectCase, agent: string, method: string, params: object): Promise<Loose> {
  const headers = { "a2a-version": dialect.version };
  return rpcResult(`${server.url}${dialect.mount}${agent}`, method, params, headers);
}
function open(dialect: DialectCase, agent: string, method: string, params: object) {
  const headers = { "a2a-version": dialect.version };
  return openStream(`${server.url}${dialect.mount}${agent}`, method, params, headers);
}

async function startTask(dialect: DialectCase): Promise<string> {
  return dialect.taskIn(await call(dialect, "asker", dialect.send, dialect.sendParams("book"))).id;
}
const read = (dialect: DialectCase, agent: string, id: string): Promise<Loose> =>
  call(dialect, agent, dialect.get, dialect.named(id));

describe.each(PAIRS)("a task started in $maker.name, for a caller of $other.name,", ({ maker, other }) => {
  it("is read", async () => {
    const id = await startTask(maker);
    const task = await read(other, "asker", id);
    expect([task.id, stateOf(task)]).toEqual([id, "input-required"]);
    expect(task.status.message.parts[0].text).toBe("Which one?");
  });

  it("is canceled, and its subscribers see that", async () => {
    const id = await startTask(maker);
    const watched = await open(maker, "asker", maker.subscribe, maker.named(id));
    await watched.next();
    expect(stateOf(await call(other, "asker", other.cancel, other.named(id)))).toBe("canceled");
    expect(lastState(maker, await watched.all())).toBe("canceled");
  });

  it("can be subscribed to while it is running", async () => {
    const made = await open(maker, "puppet", maker.stream, maker.sendParams("work"));
    await made.next();
    const { tasks } = await rpcResult(`${server.url}/agents/puppet`, "ListTasks", { pageSize: 1 });
    const { id } = tasks[0];
    await untilState(`${server.url}/agents/puppet`, id, "working");
    const watched = await open(other, "puppet", other.subscribe, other.named(id));
    await watched.next();
    puppet.send(id, ctx => ctx.text("done"));
    puppet.end(id);
    expect(lastState(other, await watched.all())).toBe("completed");
    expect(lastState(maker, await made.all())).toBe("completed");
    expect(stateOf(await read(other, "puppet", id))).toBe("completed");
  });
});

describe.each(CONTINUED)("a task started in $maker.name continues in $other.name", ({ maker, other }) => {
  it("with a send, and both see the same end", async () => {
    const id = await startTask(maker);
    const task = other.taskIn(await call(other, "asker", other.send, other.sendParams("red", id)));
    expect([task.id, task.artifacts[0].parts[0].text]).toEqual([id, "You chose red"]);
    expect(stateOf(await read(maker, "asker", id))).toBe("completed");
  });

  it("with a stream", async () => {
    const id = await startTask(maker);
    const stream = await open(other, "asker", other.stream, other.sendParams("red", id));
    expect(lastState(other, await stream.all())).toBe("completed");
    expect(stateOf(await read(maker, "asker", id))).toBe("completed");
  });
});

it("a message to Arbiter does not change the task that it names", async () => {
  const [arbiter, v1] = [NEW.at(-1) as DialectCase, OLD[0] as DialectCase];
  const id = await startTask(v1);
  const other = await call(arbiter, "asker", arbiter.send, arbiter.sendParams("red", id));
  expect(other.id).not.toBe(id);
  expect(stateOf(await read(v1, "asker", id))).toBe("input-required");
});
