import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import { type Loose, rpcResult, untilState, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * A task belongs to no dialect: started in one, it is read, subscribed to, continued and canceled in any
 * other.
 */

/** A client of one dialect; results have neutral names. */
interface DialectCase {
  readonly name: string;
  path(agent: string): string;
  readonly headers: Record<string, string>;
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly cancel: string;
  readonly subscribe: string;
  /** `task`: undefined for a new one whose id the server chooses. */
  sendParams(text: string, task: string | undefined): object;
  taskIn(result: Loose): Loose;
  stateIn(frame: Loose): string | undefined;
}

const official = (base: typeof V1, version: string): DialectCase => ({
  ...base,
  path: agent => `/agents/${agent}`,
  headers: { "a2a-version": version },
  sendParams: (text, taskId) => base.sendParams(text, taskId === undefined ? {} : { taskId }),
  stateIn: frame => base.toItem(frame).state,
});

const METHODS = {
  send: "tasks/send",
  stream: "tasks/sendSubscribe",
  get: "tasks/get",
  cancel: "tasks/cancel",
  subscribe: "tasks/resubscribe",
};
let ids = 0;
const sendParams = (text: string, id = `mine-${++ids}`): object => ({
  id,
  message: { role: "user", parts: [{ type: "text", text }] },
});

const DIALECT_CASES: readonly DialectCase[] = [
  official(V1, "1.0"),
  official(V03, "0.3"),
  {
    ...METHODS,
    name: "v0.1",
    path: agent => `/agents/${agent}`,
    headers: { "a2a-version": "0.1" },
    sendParams,
    taskIn: result => result,
    stateIn: frame => frame.result.status?.state,
  },
  {
    ...METHODS,
    name: "Orloj",
    path: agent => `/v1/agent-systems/${agent}/a2a`,
    headers: {},
    sendParams,
    taskIn: result => result,
    stateIn: frame => frame.status.state,
  },
];
const PAIRS = DIALECT_CASES.flatMap(one => DIALECT_CASES.map(other => [one, other] as const)).filter(
  ([one, other]) => one !== other && [one, other].some(({ send }) => send === METHODS.send),
);

const puppet = createScriptedAgent();
let server: TestServer;
beforeAll(async () => {
  server = await serve([asker, puppet.definition], { cancelGraceMs: 100 });
});
afterAll(() => server.stop());

const lower = (state: string): string => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");

function call(dialect: DialectCase, agent: string, method: string, params: object): Promise<Loose> {
  return rpcResult(`${server.url}${dialect.path(agent)}`, method, params, dialect.headers);
}

const open = (dialect: DialectCase, agent: string, method: string, params: object) =>
  openStream(`${server.url}${dialect.path(agent)}`, method, params, dialect.headers);

async function startTask(dialect: DialectCase): Promise<string> {
  const result = await call(dialect, "asker", dialect.send, dialect.sendParams("book", undefined));
  return dialect.taskIn(result).id;
}

async function stateFor(dialect: DialectCase, agent: string, id: string): Promise<string> {
  return lower((await call(dialect, agent, dialect.get, { id })).status.state);
}

describe.each(PAIRS.map(([maker, other]) => ({ maker, other })))(
  "a task started in $maker.name, for a caller of $other.name,",
  ({ maker, other }) => {
    it("is read", async () => {
      const id = await startTask(maker);
      const task = await call(other, "asker", other.get, { id });
      expect(lower(task.status.state)).toBe("input-required");
      expect(task.status.message.parts[0].text).toBe("Which one?");
    });

    it("is continued, and both see the same end", async () => {
      const id = await startTask(maker);
      const task = other.taskIn(await call(other, "asker", other.send, other.sendParams("red", id)));
      expect(task.artifacts[0].parts[0].text).toBe("You chose red");
      expect(await stateFor(maker, "asker", id)).toBe("completed");
    });

    it("is continued in a stream", async () => {
      const id = await startTask(maker);
      const stream = await open(other, "asker", other.stream, other.sendParams("red", id));
      expect(other.stateIn((await stream.all()).at(-1)?.data)).toBe("completed");
      expect(await stateFor(maker, "asker", id)).toBe("completed");
    });

    it("is canceled, and its subscribers see that", async () => {
      const id = await startTask(maker);
      const stream = await open(maker, "asker", maker.subscribe, { id });
      expect(maker.stateIn((await stream.next())?.data)).toBe("input-required");
      const canceled = await call(other, "asker", other.cancel, { id });
      expect(lower(canceled.status.state)).toBe("canceled");
      expect(maker.stateIn((await stream.all()).at(-1)?.data)).toBe("canceled");
    });

    it("can be subscribed to while it is running", async () => {
      const made = await open(maker, "puppet", maker.stream, maker.sendParams("work", undefined));
      await made.next();
      const { tasks } = await rpcResult(`${server.url}/agents/puppet`, "ListTasks", { pageSize: 1 });
      const { id } = tasks[0];
      await untilState(`${server.url}/agents/puppet`, id, "working");
      const stream = await open(other, "puppet", other.subscribe, { id });
      expect(other.stateIn((await stream.next())?.data)).toBe("working");
      puppet.send(id, ctx => ctx.text("done"));
      puppet.end(id);
      const [last, own] = [(await stream.all()).at(-1), (await made.all()).at(-1)];
      expect([other.stateIn(last?.data), maker.stateIn(own?.data)]).toEqual(["completed", "completed"]);
      expect(await stateFor(maker, "puppet", id)).toBe("completed");
    });
  },
);
