import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { openStream, rpc, said, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { foldText, partsText, plotOf, stateOf, taskOf, textOf } from "../support/wire.ts";

/**
 * What every runtime does, whatever an agent is made with: served by a process of its own, called over the wire, killed
 * in the middle. A runtime's test is a call of this function with a stage: something that puts an agent with the name
 * "tested" into a folder and tells how it is served (an agent file, or a dragoman.config.ts).
 *
 * The agent does what the text of a message says:
 *
 * | text | what it does |
 * |---|---|
 * | stream | says "one two three", in several pieces of one artifact |
 * | work | adds the line "begun" to the file `trail` in the folder, says "before ", waits until there is a file `open` in the folder, says "after" |
 * | wait | says "waiting" and works on until it is stopped; then it adds the line "stopped" to the file `trail` |
 * | fail | fails with a reason in which the word SECRET stands |
 * | ask | asks a question in which "Which colour?" stands; to the answer X it says "You chose X" |
 * | spend | says "spent", and spends 7 input tokens and 5 output tokens |
 * | recall | says what the earlier messages of its context were, with ", " between them; "nothing", if there were none |
 * | anything else | says "ok" |
 *
 * What stands behind it (a model, another server) may be played by the test itself, in `stage`.
 */
export interface RuntimeUnderTest {
  readonly name: string;
  /** `more`: members of the definition that it must have, such as onCrash. */
  stage(folder: string, more: { readonly onCrash?: "fail" }): Promise<Staged>;
  /** It cannot ask its caller. */
  readonly asks?: false;
  /** It does not tell what it spends. */
  readonly spends?: false;
  /** What was done before a crash is not done again. Else the work begins anew, and what it says takes the place of what was said. */
  readonly resumes?: true;
}
export interface Staged {
  /** What is served: the words after `dragoman serve`. */
  readonly served: readonly string[];
  /** Ends what the test itself plays. */
  close?(): Promise<void>;
}

export function runtimeContract(runtime: RuntimeUnderTest): void {
  describe(`an agent made with ${runtime.name}`, () => {
    let folder: ReturnType<typeof tempFolder>;
    let staged: Staged;
    let server: Child;

    async function start(more: { readonly onCrash?: "fail" } = {}): Promise<void> {
      staged = await runtime.stage(folder.path, more);
      await serve();
    }
    async function serve(port = 0): Promise<void> {
      const flags = ["--durability", "process", "--log-level", "warn", "--cancel-grace-ms", "5000"];
      server = await startChild({ agents: staged.served, data: join(folder.path, "data"), port, flags });
    }
    /** Kills the server, and starts it again where its callers look for it. */
    async function restart(): Promise<void> {
      await server.kill();
      await serve(server.port);
    }

    beforeEach(() => {
      folder = tempFolder();
    });
    afterEach(async () => {
      await endChildren();
      await staged.close?.();
      folder.remove();
    });

    const call = async (method: string, params: object): Promise<object> =>
      (await rpc(`${server.url}/agents/tested`, method, params)).body;
    const send = (text: string, message: object = {}): Promise<object> =>
      call("SendMessage", said(text, message));
    async function begin(text: string): Promise<string> {
      const atOnce = { configuration: { returnImmediately: true } };
      return taskOf(await call("SendMessage", { ...said(text), ...atOnce })).id;
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

    it("streams its words into one artifact, piece by piece", async () => {
      await start();
      const stream = await openStream(`${server.url}/agents/tested`, "SendStreamingMessage", said("stream"));
      const events = await stream.all();
      const pieces = events.map(plotOf).filter(plot => plot.what === "artifact" && plot.text !== "");
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.map(plot => plot.append)).toEqual(pieces.map((_, at) => at > 0));
      expect(foldText(events)).toBe("one two three");
      expect(plotOf(events.at(-1) as (typeof events)[0]).what).toBe("status completed");
      const body = await get(events[0]?.data.result.task.id);
      expect([textOf(body), taskOf(body).artifacts.length]).toEqual(["one two three", 1]);
    });

    it("is stopped by a cancel, and its words before stay", async () => {
      await start();
      const id = await begin("wait");
      await says(id, "waiting");
      expect(stateOf(await call("CancelTask", { id }))).toBe("canceled");
      await until(() => trail().includes("stopped"));
      const body = await get(id);
      expect([stateOf(body), textOf(body)]).toEqual(["canceled", "waiting"]);
      expect(textOf(await send("stream"))).toBe("one two three");
    });

    it("fails without telling its caller why; its operator finds the reason in the log", async () => {
      await start();
      const body = await send("fail");
      expect(stateOf(body)).toBe("failed");
      expect(JSON.stringify(body)).not.toContain("SECRET");
      const ref = /under (\S+)\.$/.exec(wordsOf(body))?.[1];
      expect(ref).toBeDefined();
      await until(() => server.stderr().includes(ref as string));
      expect(server.stderr()).toContain("SECRET");
    });

    it("knows what was said before in its context, also after a kill, and nothing of other contexts", async () => {
      await start();
      const contextId = "mine";
      expect(textOf(await send("recall", { contextId }))).toBe("nothing");
      expect(textOf(await send("apples", { contextId }))).toBe("ok");
      await send("pears", { contextId: "other" });
      await restart();
      expect(textOf(await send("recall", { contextId }))).toBe("recall, apples");
    });

    it("begins again or goes on after a kill in the middle, and says nothing twice", async () => {
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

    it("is not begun again after a kill if its definition says so", async () => {
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

    it.skipIf(runtime.asks === false)("asks its caller, and takes the answer after a kill", async () => {
      await start();
      const asked = await send("ask");
      expect(stateOf(asked)).toBe("input-required");
      expect(JSON.stringify(taskOf(asked).status.message)).toContain("Which colour?");
      await restart();
      const body = await send("blue", { taskId: taskOf(asked).id });
      expect([stateOf(body), textOf(body)]).toEqual(["completed", "You chose blue"]);
    });

    it.skipIf(runtime.spends === false)("tells what it spent", async () => {
      await start();
      const { id } = taskOf(await send("spend"));
      // The one dialect that tells it.
      const { body } = await rpc(`${server.url}/v1/a2a/agents/tested`, "tasks/get", { id });
      const { metadata } = body.result;
      expect([metadata["x-arbiter.input_tokens"], metadata["x-arbiter.output_tokens"]]).toEqual([7, 5]);
    });
  });
}
