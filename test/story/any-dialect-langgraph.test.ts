import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStream } from "../support/client.ts";
import { askLanggraph, doubter, resume, saidTo } from "../support/langgraph.ts";
import { asker, createPuppet } from "../support/puppet.ts";
import { serve, type TestServer } from "../support/server.ts";
import { ask, begin, type Loose, refused, TONGUES, type Tongue, V1 } from "../support/tongue.ts";
import { textOf } from "../support/wire.ts";

/** A task belongs to no dialect: begun on LangGraph's mount and gone on with elsewhere, and the other way round. */

const puppet = createPuppet();
let server: TestServer;
const official = (name: string): string => `${server.url}/agents/${name}`;
const mount = (name: string): string => `${server.url}/a2a/${name}`;

beforeAll(async () => {
  server = await serve([asker, doubter, puppet.definition]);
});
afterAll(() => server.stop());

const saidBy = (task: Loose): string => textOf({ result: task });
const answersIn = (task: Loose): Loose => task.artifacts[0].parts[0].data;
/** Which dialect the caller of v0.3 speaks must be said, since others share its methods. */
const named = (tongue: Tongue): Record<string, string> => ({ "a2a-version": tongue.version });

describe.each(TONGUES)("$name and LangGraph", tongue => {
  const begun = async (url: string): Promise<Loose> =>
    tongue.taskIn(await ask(url, tongue.send, tongue.said("hi"), named(tongue)));

  it("a task of LangGraph's mount is read, continued and read again", async () => {
    const { id, contextId } = await askLanggraph(mount("asker"), "message/send", saidTo("hi"));
    const read = await ask(official("asker"), tongue.get, { id }, named(tongue));
    expect([read.id, read.contextId, tongue.stateOf(read)]).toEqual([id, contextId, "input-required"]);
    const more = tongue.said("this", { taskId: id, contextId });
    const done = tongue.taskIn(await ask(official("asker"), tongue.send, more, named(tongue)));
    expect([done.id, tongue.stateOf(done), done.artifacts[0].name]).toEqual([id, "completed", "response"]);
    const again = await askLanggraph(mount("asker"), "tasks/get", { id, contextId });
    expect([again.status.state, saidBy(again), again.artifacts[0].name]).toEqual([
      "completed",
      "You chose this",
      "Assistant Response",
    ]);
  });

  it("a task made elsewhere is read and continued on LangGraph's mount", async () => {
    const { id, contextId } = await begun(official("asker"));
    const read = await askLanggraph(mount("asker"), "tasks/get", { id, contextId });
    expect([read.kind, read.id, read.status.state]).toEqual(["task", id, "input-required"]);
    const more = saidTo("that", { taskId: `${contextId}:${id}`, contextId });
    const done = await askLanggraph(mount("asker"), "message/send", more);
    expect([done.id, saidBy(done)]).toEqual([id, "You chose that"]);
  });

  it("a task of LangGraph's mount is canceled elsewhere, and its stream ends there", async () => {
    const stream = await openStream(mount("puppet"), "message/stream", saidTo("hi"));
    const id = (await stream.next())?.data.result.id;
    const canceled = await ask(official("puppet"), tongue.cancel, { id }, named(tongue));
    expect(tongue.stateOf(canceled)).toBe("canceled");
    const last = (await stream.all()).at(-1)?.data.result;
    expect([last.kind, last.status.state, last.final]).toEqual(["status-update", "canceled", true]);
  });

  it("a task made elsewhere is canceled on LangGraph's mount, in its context only", async () => {
    const { id, contextId } = await begin(official("puppet"), tongue, "hi");
    const cancel = (where: string): Promise<Loose> =>
      askLanggraph(mount("puppet"), "tasks/cancel", { id, contextId: where });
    await expect(cancel("elsewhere")).rejects.toThrow("-32001");
    expect((await cancel(contextId)).status.state).toBe("canceled");
  });

  it("several questions are answered in any dialect, some here and some there", async () => {
    const { id, contextId } = await askLanggraph(mount("doubter"), "message/send", saidTo("hi"));
    const { data } = resume({ "interrupt-1": "window" }) as Loose;
    const part = tongue === V1 ? { data } : { kind: "data", data };
    const partial = tongue.said("", { taskId: id, parts: [part] });
    const waiting = tongue.taskIn(await ask(official("doubter"), tongue.send, partial, named(tongue)));
    expect(tongue.stateOf(waiting)).toBe("input-required");
    const rest = saidTo([resume({ "interrupt-2": "fish" })], { taskId: id, contextId });
    const done = await askLanggraph(mount("doubter"), "message/send", rest);
    expect(answersIn(done)).toEqual({ "interrupt-1": "window", "interrupt-2": "fish" });
  });

  it("a message to a task that has ended is refused elsewhere, and begins a new one on LangGraph's mount", async () => {
    const { id, contextId } = await begun(official("asker"));
    await ask(official("asker"), tongue.cancel, { id }, named(tongue));
    const more = tongue.said("hi", { taskId: id });
    expect((await refused(official("asker"), tongue.send, more, named(tongue))).code).toBe(-32004);
    const fresh = await askLanggraph(mount("asker"), "message/send", saidTo("hi", { taskId: id, contextId }));
    expect(fresh.contextId).toBe(contextId);
    expect(fresh.id).not.toBe(id);
  });
});
