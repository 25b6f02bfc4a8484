import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import {
  fieldsOf,
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  untilState,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** docs/dialects/README.md#reading: get and list, on both stores. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const folder = tempFolder();
const talker = {
  name: "talker",
  contextAnswers: false,
  async *run(task: Loose, ctx: Loose) {
    yield ctx.status(`thinking about ${task.text}`);
    yield ctx.text(task.text);
    if (!task.text.startsWith("end")) yield ctx.ask(`more than ${task.text}?`);
  },
};

afterAll(() => folder.remove());

describe.each([
  ["memory", ":memory:"],
  ["SQLite", folder.path],
])("on %s", (_, data) => {
  const puppet = createScriptedAgent();
  let server: TestServer;
  let root: string;
  const at = (name: string): string => `${server.url}/agents/${name}`;

  beforeAll(async () => {
    server = await serve([echo, talker, puppet.definition], { data });
    root = server.url;
  });
  afterAll(() => server.stop());

  /** A task of the agent `talker` with these texts, one turn each. */
  async function sendTurns(...messages: string[]): Promise<Loose> {
    let task: Loose;
    for (const word of messages)
      task = (await rpcResult(at("talker"), V1.send, V1.sendParams(word, task && { taskId: task.id }))).task;
    return task;
  }
  const texts = (history: Loose[]): string[] => history.map(message => message.parts[0].text);

  describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
    it("B-R1: a task that does not exist is TaskNotFound", async () => {
      for (const id of [UNKNOWN, "nope", "../../etc/passwd", "' OR 1=1 --"]) {
        const error = await rpcError(root, dialect.get, { id });
        expect(error.code).toBe(-32001);
      }
    });

    it("B-R1: a task of another agent has the response of a missing one", async () => {
      const { id } = await sendTurns("end");
      const foreign = await rpcError(root, dialect.get, { id });
      const absent = await rpcError(root, dialect.get, { id: UNKNOWN });
      expect(JSON.stringify(foreign).replaceAll(id, "ID")).toBe(
        JSON.stringify(absent).replaceAll(UNKNOWN, "ID"),
      );
    });

    it("B-R2: without historyLength all messages are returned, the oldest first, the current one only in the status", async () => {
      const { id } = await sendTurns("one", "two");
      const task = await rpcResult(at("talker"), dialect.get, { id });
      expect(texts(task.history)).toEqual([
        "one",
        "thinking about one",
        "more than one?",
        "two",
        "thinking about two",
      ]);
      expect(task.status.message.parts[0].text).toBe("more than two?");
    });

    it("B-R2: historyLength 0 omits the history", async () => {
      const { id } = await sendTurns("one", "two");
      expect(await rpcResult(at("talker"), dialect.get, { id, historyLength: 0 })).not.toHaveProperty(
        "history",
      );
    });

    it.each([1, 2, 4, 5, 6, 1000])(
      "B-R2: historyLength %i returns that many of the last messages, the oldest first",
      async n => {
        const { id } = await sendTurns("one", "two");
        const { history: all } = await rpcResult(at("talker"), dialect.get, { id });
        const { history } = await rpcResult(at("talker"), dialect.get, { id, historyLength: n });
        expect(history).toEqual(all.slice(-n));
      },
    );

    it.each([-1, -1000, 1.5, "many", 2 ** 31])("B-R2: historyLength %j is an invalid parameter", async n => {
      const { id } = await sendTurns("end");
      const calls: [string, object][] = [
        [dialect.get, { id, historyLength: n }],
        [dialect.list, { historyLength: n }],
        [dialect.send, dialect.sendParams("end", {}, { configuration: { historyLength: n } })],
        [dialect.stream, dialect.sendParams("end", {}, { configuration: { historyLength: n } })],
      ];
      for (const [method, params] of calls) {
        const error = await rpcError(at("talker"), method, params);
        expect(error.code).toBe(-32602);
        expect(error.message).toContain("historyLength");
      }
    });

    it("B-R2: historyLength applies to sends and lists, too", async () => {
      const configuration = { historyLength: 1 };
      const params = dialect.sendParams("count", { contextId: `h-${dialect.name}` }, { configuration });
      const sent = dialect.taskIn(await rpcResult(at("talker"), dialect.send, params));
      expect(texts(sent.history)).toEqual(["thinking about count"]);
      const filter = { contextId: `h-${dialect.name}`, historyLength: 0 };
      const { tasks } = await rpcResult(at("talker"), dialect.list, filter);
      expect(tasks).toHaveLength(1);
      expect(tasks[0]).not.toHaveProperty("history");
    });

    it("B-R3: a list has the newest status first", async () => {
      const contextId = `sorted-${dialect.name}`;
      const ids: string[] = [];
      for (const word of ["a", "b", "c"]) {
        const sent = await rpcResult(at("talker"), dialect.send, dialect.sendParams(word, { contextId }));
        ids.push(dialect.taskIn(sent).id);
      }
      await rpcResult(at("talker"), dialect.send, dialect.sendParams("again", { taskId: ids[0] }));
      const { tasks } = await rpcResult(at("talker"), dialect.list, { contextId });
      expect(tasks.map((task: Loose) => task.id)).toEqual([ids[0], ids[2], ids[1]]);
      const times = tasks.map((task: Loose) => task.status.timestamp);
      expect(times).toEqual(times.toSorted().reverse());
    });

    it("B-R3: a list has only the tasks of its agent", async () => {
      await sendTurns("end");
      const mine = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("mine")));
      const { tasks } = await rpcResult(root, dialect.list, { pageSize: 100 });
      expect(tasks.map((task: Loose) => task.id)).toContain(mine.id);
      for (const task of tasks) expect(await getTask(root, task.id)).toBeDefined();
    });

    it.each([0, -1, 101, 1.5, "all"])("B-R3: a pageSize of %j is an invalid parameter", async pageSize => {
      const error = await rpcError(root, dialect.list, { pageSize });
      expect(error.code).toBe(-32602);
      expect(error.message).toContain("pageSize");
    });

    it.each(["nonsense", "AAAA", "MTA", "MS4y=", "%00", "-1.5"])(
      "B-R3: the pageToken %j, which the server did not create, is an invalid parameter",
      async pageToken => {
        const error = await rpcError(root, dialect.list, { pageToken });
        expect(error.code).toBe(-32602);
        if (dialect === V1) expect(fieldsOf(error)).toEqual(["pageToken"]);
      },
    );

    it("B-R3: an unknown status is an invalid parameter", async () => {
      for (const status of ["done", "TASK_STATE_DONE", 99, {}]) {
        const error = await rpcError(root, dialect.list, { status });
        expect(error.code).toBe(-32602);
        expect(error.message).toContain("status");
      }
    });

    it("B-R5: nextPageToken, totalSize and pageSize are always present; the last page has an empty token", async () => {
      const contextId = `paged-${dialect.name}`;
      for (const word of ["a", "b", "c"])
        await rpcResult(root, dialect.send, dialect.sendParams(word, { contextId }));
      const first = await rpcResult(root, dialect.list, { contextId, pageSize: 2 });
      expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
      expect(first.tasks).toHaveLength(2);
      expect(first.nextPageToken).toMatch(/.+/);
      const pageToken = first.nextPageToken;
      const second = await rpcResult(root, dialect.list, { contextId, pageSize: 2, pageToken });
      expect(second).toMatchObject({ pageSize: 2, totalSize: 3, nextPageToken: "" });
      expect(second.tasks).toHaveLength(1);
      const none = await rpcResult(root, dialect.list, { contextId: "nobody" });
      expect(none).toEqual({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
    });

    it("B-R5: a page that is exactly full is the last one", async () => {
      const contextId = `full-${dialect.name}`;
      for (const word of ["a", "b"])
        await rpcResult(root, dialect.send, dialect.sendParams(word, { contextId }));
      const page = await rpcResult(root, dialect.list, { contextId, pageSize: 2 });
      expect(page.tasks).toHaveLength(2);
      expect(page.nextPageToken).toBe("");
    });

    it("B-R6: filters combine", async () => {
      const contextId = `both-${dialect.name}`;
      const waiting = await rpcResult(at("talker"), dialect.send, dialect.sendParams("wait", { contextId }));
      await rpcResult(at("talker"), dialect.send, dialect.sendParams("end", { contextId }));
      const state = dialect === V1 ? "TASK_STATE_INPUT_REQUIRED" : "input-required";
      const page = await rpcResult(at("talker"), dialect.list, { contextId, status: state });
      expect(page.tasks.map((task: Loose) => task.id)).toEqual([dialect.taskIn(waiting).id]);
      expect(page.totalSize).toBe(1);
    });

    it("B-R8: timestamps are UTC with milliseconds and a Z", async () => {
      const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("now")));
      expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });
  });

  it("B-R4: a list has no artifacts unless they are requested", async () => {
    const contextId = "artifacts";
    await rpcResult(root, "SendMessage", V1.sendParams("full", { contextId }));
    for (const params of [{ contextId }, { contextId, includeArtifacts: false }])
      expect((await rpcResult(root, "ListTasks", params)).tasks[0]).not.toHaveProperty("artifacts");
    const { tasks } = await rpcResult(root, "ListTasks", { contextId, includeArtifacts: true });
    expect(tasks[0].artifacts[0].parts[0].text).toBe("full");
  });

  it("B-R4: requested artifacts are present even if the list of them is empty", async () => {
    const task = await startTask(at("puppet"), V1, "nothing", { contextId: "empty" });
    puppet.end(task.id);
    await untilState(at("puppet"), task.id, "completed");
    const { tasks } = await rpcResult(at("puppet"), "ListTasks", {
      contextId: "empty",
      includeArtifacts: true,
    });
    expect(tasks[0].artifacts).toEqual([]);
  });

  it("B-R6: statusTimestampAfter includes the given time", async () => {
    const contextId = "since";
    const { task } = await rpcResult(root, "SendMessage", V1.sendParams("then", { contextId }));
    const moment = Date.parse(task.status.timestamp);
    const since = async (statusTimestampAfter: string) =>
      (await rpcResult(root, "ListTasks", { contextId, statusTimestampAfter })).totalSize;
    expect(await since(task.status.timestamp)).toBe(1);
    expect(await since(new Date(moment - 1).toISOString())).toBe(1);
    expect(await since(new Date(moment + 1).toISOString())).toBe(0);
  });

  it("B-R6: a status can be given by its number, and the unspecified one is no filter", async () => {
    const contextId = "numbers";
    await rpcResult(root, "SendMessage", V1.sendParams("done", { contextId }));
    const count = async (status: unknown) =>
      (await rpcResult(root, "ListTasks", { contextId, status })).totalSize;
    expect(await count(3)).toBe(1);
    expect(await count(2)).toBe(0);
    expect(await count("TASK_STATE_UNSPECIFIED")).toBe(1);
  });

  it("R8: tasks/list returns the page of v1 with tasks of v0.3", async () => {
    const contextId = "listed";
    await rpcResult(root, "SendMessage", V1.sendParams("made by v1", { contextId }));
    const page = await rpcResult(root, V03.list, { contextId });
    expect(Object.keys(page).sort()).toEqual(["nextPageToken", "pageSize", "tasks", "totalSize"]);
    expect(page.tasks[0]).toMatchObject({ kind: "task", contextId, status: { state: "completed" } });
    expect(page.tasks[0].history[0]).toMatchObject({ kind: "message", role: "user" });
  });
});
