import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStream, type SseEvent } from "../support/client.ts";
import { asker, createPuppet } from "../support/puppet.ts";
import { serve, type TestServer } from "../support/server.ts";
import { ask, type Loose, type Tongue, untilState, V1, V03 } from "../support/tongue.ts";

/** A task belongs to no dialect: what is begun in v0.2, simple_a2a or Arbiter lives on in v1.0 and v0.3, and back. */

interface Speaker {
  readonly name: string;
  readonly mount: string;
  readonly version: string;
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly cancel: string;
  readonly subscribe: string;
  /** `task`: undefined where a new one is wanted. */
  said(text: string, task?: string): object;
  /** How a task is named. */
  named(id: string): object;
  taskIn(result: Loose): Loose;
  stateIn(frame: Loose): string | undefined;
  /** Arbiter's callers cannot go on with a task. */
  readonly mute?: true;
}

const official = (tongue: Tongue, version: string = tongue.version): Speaker => ({
  ...tongue,
  name: `v${version}`,
  mount: "/agents/",
  version,
  said: (text, taskId) => tongue.said(text, taskId === undefined ? {} : { taskId }),
  named: id => ({ id }),
  stateIn: frame => tongue.hear(frame).state,
});

const NEW: readonly Speaker[] = [
  official(V03, "0.2"),
  {
    ...official(V03, "1.0"),
    name: "simple_a2a",
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    said: (text, id) => ({
      message: { messageId: "m", role: "user", parts: [{ text, kind: "text" }] },
      ...(id && { id }),
    }),
    named: taskId => ({ taskId }),
    taskIn: result => result,
    stateIn: frame => frame.result.status?.state.replace("_", "-"),
  },
  { ...official(V03, "1.0"), name: "Arbiter", mount: "/v1/a2a/agents/", mute: true },
];
const OLD: readonly Speaker[] = [official(V1), official(V03)];
const PAIRS = NEW.flatMap(one =>
  OLD.flatMap(other => [
    { maker: one, other },
    { maker: other, other: one },
  ]),
);
const CONTINUED = PAIRS.filter(({ other }) => !other.mute);

const puppet = createPuppet();
let server: TestServer;
beforeAll(async () => {
  server = await serve([asker, puppet.definition], { cancelGraceMs: 100 });
});
afterAll(() => server.stop());

const lower = (state: string): string => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
const stateOf = (task: Loose): string => lower(task.status.state);
const lastState = (speaker: Speaker, events: readonly SseEvent[]): string | undefined =>
  speaker.stateIn(events.at(-1)?.data);

function call(speaker: Speaker, agent: string, method: string, params: object): Promise<Loose> {
  const headers = { "a2a-version": speaker.version };
  return ask(`${server.url}${speaker.mount}${agent}`, method, params, headers);
}
function open(speaker: Speaker, agent: string, method: string, params: object) {
  const headers = { "a2a-version": speaker.version };
  return openStream(`${server.url}${speaker.mount}${agent}`, method, params, headers);
}

async function begin(speaker: Speaker): Promise<string> {
  return speaker.taskIn(await call(speaker, "asker", speaker.send, speaker.said("book"))).id;
}
const read = (speaker: Speaker, agent: string, id: string): Promise<Loose> =>
  call(speaker, agent, speaker.get, speaker.named(id));

describe.each(PAIRS)("a task begun in $maker.name, by one who speaks $other.name,", ({ maker, other }) => {
  it("is read", async () => {
    const id = await begin(maker);
    const task = await read(other, "asker", id);
    expect([task.id, stateOf(task)]).toEqual([id, "input-required"]);
    expect(task.status.message.parts[0].text).toBe("Which one?");
  });

  it("is canceled, and whoever watches it sees that", async () => {
    const id = await begin(maker);
    const watched = await open(maker, "asker", maker.subscribe, maker.named(id));
    await watched.next();
    expect(stateOf(await call(other, "asker", other.cancel, other.named(id)))).toBe("canceled");
    expect(lastState(maker, await watched.all())).toBe("canceled");
  });

  it("is watched while it is worked on", async () => {
    const made = await open(maker, "puppet", maker.stream, maker.said("work"));
    await made.next();
    const { tasks } = await ask(`${server.url}/agents/puppet`, "ListTasks", { pageSize: 1 });
    const { id } = tasks[0];
    await untilState(`${server.url}/agents/puppet`, id, "working");
    const watched = await open(other, "puppet", other.subscribe, other.named(id));
    await watched.next();
    puppet.say(id, ctx => ctx.text("done"));
    puppet.end(id);
    expect(lastState(other, await watched.all())).toBe("completed");
    expect(lastState(maker, await made.all())).toBe("completed");
    expect(stateOf(await read(other, "puppet", id))).toBe("completed");
  });
});

describe.each(CONTINUED)("a task begun in $maker.name goes on in $other.name", ({ maker, other }) => {
  it("with a send, and both see the same end", async () => {
    const id = await begin(maker);
    const task = other.taskIn(await call(other, "asker", other.send, other.said("red", id)));
    expect([task.id, task.artifacts[0].parts[0].text]).toEqual([id, "You chose red"]);
    expect(stateOf(await read(maker, "asker", id))).toBe("completed");
  });

  it("with a stream", async () => {
    const id = await begin(maker);
    const stream = await open(other, "asker", other.stream, other.said("red", id));
    expect(lastState(other, await stream.all())).toBe("completed");
    expect(stateOf(await read(maker, "asker", id))).toBe("completed");
  });
});

it("a message to Arbiter leaves the task that it names alone", async () => {
  const [arbiter, v1] = [NEW.at(-1) as Speaker, OLD[0] as Speaker];
  const id = await begin(v1);
  const other = await call(arbiter, "asker", arbiter.send, arbiter.said("red", id));
  expect(other.id).not.toBe(id);
  expect(stateOf(await read(v1, "asker", id))).toBe("input-required");
});
