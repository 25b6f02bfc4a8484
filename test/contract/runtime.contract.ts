import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { foldText, partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

/**
 * The contract of every runtime: the agent is served by a process of its own, called over the wire, and killed during a run.
 * The test of a runtime passes a function that writes an agent named "tested" into a folder and returns the arguments to
 * serve it (an agent file, or a dragoman.config.ts).
 *
 * The text of a message selects the behaviour of the agent:
 *
 * | text | behaviour |
 * |---|---|
 * | stream | writes "one two three", in several chunks of one artifact |
 * | work | adds the line "begun" to the file `trail` in the folder, writes "before ", waits until there is a file `open` in the folder, writes "after" |
 * | wait | writes "waiting" and runs until it is stopped; then it adds the line "stopped" to the file `trail` |
 * | fail | fails with a reason that contains the word SECRET |
 * | ask | asks a question that contains "Which colour?"; to the answer X it writes "You chose X" |
 * | spend | writes "spent", and reports 7 input tokens and 5 output tokens |
 * | recall | writes the earlier messages of its context, separated by ", "; "nothing" if there were none |
 * | anything else | writes "ok" |
 *
 * The test itself can provide a fake model or a second server, in `createAgent`.
 */
export interface RuntimeUnderTest {
  readonly name: string;
  /** `more`: further members of the definition, such as onCrash. */
  createAgent(folder: string, more: { readonly onCrash?: "fail" }): Promise<CreatedAgent>;
  /** The runtime cannot ask for input. */
  readonly asks?: false;
  /** The runtime reports no usage. */
  readonly spends?: false;
  /** Steps before a crash are not repeated. Otherwise the run starts over, and its output replaces the earlier output. */
  readonly resumes?: true;
}
export interface CreatedAgent {
  /** The arguments of `dragoman serve`. */
  readonly serveArguments: readonly string[];
  /** Stops the fakes of the test. */
  close?(): Promise<void>;
}

export function runtimeContract(runtime: RuntimeUnderTest): void {
  describe(`an agent made with ${runtime.name}`, () => {
    let folder: ReturnType<typeof tempFolder>;
    let created: CreatedAgent;
    let server: Child;

    async function start(more: { readonly onCrash?: "fail" } = {}): Promise<void> {
      created = await runtime.createAgent(folder.path, more);
      await serve();
    }
    async function serve(port = 0): Promise<void> {
      const flags = ["--durability", "process", "--log-level", "warn", "--cancel-grace-ms", "5000"];
      server = await startChild({
        agents: created.serveArguments,
        data: join(folder.path, "data"),
        port,
        flags,
      });
    }
    /** Kills the server and restarts it on the same port. */
    async function restart(): Promise<void> {
      await server.kill();
      await serve(server.port);
    }

    beforeEach(() => {
      folder = tempFolder();
    });
    afterEach(async () => {
      await endChildren();
      await created.close?.();
      folder.remove();
    });

    const call = async (method: string, params: object): Promise<object> =>
      (await rpc(`${server.url}/agents/tested`, method, params)).body;
    const send = (text: string, message: object = {}): Promise<object> =>
      call("SendMessage", sendParams(text, message));
    async function begin(text: string): Promise<string> {
      const atOnce = { configuration: { returnImmediately: true } };
      return taskOf(await call("SendMessage", { ...sendParams(text), ...atOnce })).id;
    }
    const get = (id: string): Promise<object> => call("GetTask", { id });
    const settled = async (id: string, state: string): Promise<object> => {
      await until(async () => stateOf(await get(id)) === state);
      return get(id);
    };
    const says = (id: string, words: string): Promise<void> =>
      until(async () => textOf(await get(id)).includes(words));
    const trail = (): readonly string[] => {
      const file = join(folder.path, "trail");
      return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    };
    const open = (): void => writeFileSync(join(folder.path, "open"), "");
    const wordsOf = (body: object): string => partsText(taskOf(body).status.message?.parts);

    it("streams its text into one artifact, chunk by chunk", async () => {
      await start();
      const stream = await openStream(
        `${server.url}/agents/tested`,
        "SendStreamingMessage",
        sendParams("stream"),
      );
      const events = await stream.all();
      const pieces = events.map(summaryOf).filter(plot => plot.what === "artifact" && plot.text !== "");
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.map(plot => plot.append)).toEqual(pieces.map((_, at) => at > 0));
      expect(foldText(events)).toBe("one two three");
      expect(summaryOf(events.at(-1) as (typeof events)[0]).what).toBe("status completed");
      const body = await get(events[0]?.data.result.task.id);
      expect([textOf(body), taskOf(body).artifacts.length]).toEqual(["one two three", 1]);
    });

    it("is stopped by a cancel, and its earlier output stays", async () => {
      await start();
      const id = await begin("wait");
      await says(id, "waiting");
      expect(stateOf(await call("CancelTask", { id }))).toBe("canceled");
      await until(() => trail().includes("stopped"));
      const body = await get(id);
      expect([stateOf(body), textOf(body)]).toEqual(["canceled", "waiting"]);
      expect(textOf(await send("stream"))).toBe("one two three");
    });

    it("fails without exposing the reason to the caller; the reason is in the log", async () => {
      await start();
      const body = await send("fail");
      expect(stateOf(body)).toBe("failed");
      expect(JSON.stringify(body)).not.toContain("SECRET");
      const ref = /under (\S+)\.$/.exec(wordsOf(body))?.[1];
      expect(ref).toBeDefined();
      await until(() => server.stderr().includes(ref as string));
      expect(server.stderr()).toContain("SECRET");
    });

    it("knows the earlier messages of its context, also after a kill, and none of other contexts", async () => {
      await start();
      const contextId = "mine";
      expect(textOf(await send("recall", { contextId }))).toBe("nothing");
      expect(textOf(await send("apples", { contextId }))).toBe("ok");
      await send("pears", { contextId: "other" });
      await restart();
      expect(textOf(await send("recall", { contextId }))).toBe("recall, apples");
    });

    it("starts over or continues after a kill, and repeats no output", async () => {
      await start();
      const id = await begin("work");
      await says(id, "before");
      await restart();
      if (!runtime.resumes) await until(() => trail().length === 2);
      open();
      const body = await settled(id, "completed");
      expect([textOf(body), taskOf(body).artifacts.length]).toEqual(["before after", 1]);
      const from = { "last-event-id": "0" };
      const log = await openStream(`${server.url}/agents/tested`, "SubscribeToTask", { id }, from);
      expect(foldText(await log.all())).toBe("before after");
      expect(trail()).toEqual(runtime.resumes ? ["begun"] : ["begun", "begun"]);
    });

    it("is not run again after a kill if onCrash is set to fail", async () => {
      await start({ onCrash: "fail" });
      const id = await begin("work");
      await says(id, "before");
      await restart();
      open();
      const body = await settled(id, "failed");
      expect([wordsOf(body), textOf(body), trail()]).toEqual([
        "The run was interrupted, and this agent does not repeat runs",
        "before ",
        ["begun"],
      ]);
    });

    it.skipIf(runtime.asks === false)("asks its caller, and gets the answer after a kill", async () => {
      await start();
      const asked = await send("ask");
      expect(stateOf(asked)).toBe("input-required");
      expect(JSON.stringify(taskOf(asked).status.message)).toContain("Which colour?");
      await restart();
      const body = await send("blue", { taskId: taskOf(asked).id });
      expect([stateOf(body), textOf(body)]).toEqual(["completed", "You chose blue"]);
    });

    it.skipIf(runtime.spends === false)("reports its usage", async () => {
      await start();
      const { id } = taskOf(await send("spend"));
      // The only dialect that shows usage.
      const { body } = await rpc(`${server.url}/v1/a2a/agents/tested`, "tasks/get", { id });
      const { metadata } = body.result;
      expect([metadata["x-arbiter.input_tokens"], metadata["x-arbiter.output_tokens"]]).toEqual([7, 5]);
    });
  });
}
