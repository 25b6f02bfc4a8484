/** The contract of every runtime: its agent is served, called, and killed during a run. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentUpdate } from "../../client/dedupe.ts";
import type { JsonObject } from "../../lib/json.ts";
import { textOf } from "../../model/index.ts";
import type { Fetch } from "../../ports/index.ts";
import type { ServerOptions } from "../../server/create-handler.ts";
import { CallerConnection, type Received, TEST_URL, type TestSendOptions, textIn } from "../caller.ts";
import { createTestServer } from "../test-server.ts";
import { type ContractCase, defineContract, until } from "./contract.ts";
import { expect } from "./expect.ts";

/**
 * The test of a runtime passes a function that creates an agent named "tested". The text of a message selects the behaviour
 * of the agent:
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
 */
export interface RuntimeUnderTest {
  /** `more`: further members of the definition, such as onCrash. */
  createAgent(folder: string, more: { readonly onCrash?: "fail" }): Promise<CreatedAgent>;
  /** Starts the server; default: one in the process of the test, whose crash is that of dragoman/testing. */
  start?(agent: CreatedAgent, folder: string): Promise<RuntimeHost>;
  /** The runtime cannot ask for input. */
  readonly asks?: false;
  /** The runtime reports no usage. */
  readonly spends?: false;
  /** Steps before a crash are not repeated. Otherwise the run starts over, and its output replaces the earlier output. */
  readonly resumes?: true;
}

export interface CreatedAgent extends Pick<ServerOptions, "agents" | "runtimes"> {
  /** Stops the fakes of the test. */
  close?(): Promise<void>;
}

/** A server that can be killed. */
export interface RuntimeHost {
  /** Requests to http://localhost go to the server. */
  readonly fetch: Fetch;
  /** Everything that the server has logged. */
  log(): string;
  /** Kills the server without any cleanup, and starts it again. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

async function startInProcess({ agents, runtimes }: CreatedAgent): Promise<RuntimeHost> {
  const { fetch, crash, close, log } = await createTestServer({ agents, runtimes });
  return { fetch, crash, close, log: () => log.map(({ facts, text }) => describe(facts, text)).join("\n") };
}

/** The message of an error is no member that JSON shows. */
const describe = (facts: object, text: string): string =>
  `${text} ${JSON.stringify(facts)} ${(facts as { err?: Error }).err?.stack ?? ""}`;

export function runtimeContract(runtime: RuntimeUnderTest): readonly ContractCase[] {
  return defineContract("an agent of the runtime", ({ afterEach, beforeEach, it }) => {
    let folder: string;
    let created: CreatedAgent | undefined;
    let host!: RuntimeHost;
    let caller: CallerConnection;
    let senders = 0;

    async function start(more: { readonly onCrash?: "fail" } = {}): Promise<void> {
      created = await runtime.createAgent(folder, more);
      host = await (runtime.start ?? startInProcess)(created, folder);
      const prefix = `${folder}-${++senders}`;
      caller = new CallerConnection(host.fetch, () => prefix, { agent: "tested" });
    }
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "dragoman-runtime-"));
      created = undefined;
    });
    afterEach(async () => {
      await host?.close();
      await created?.close?.();
      rmSync(folder, { recursive: true, force: true });
    });

    const send = (text: string, options: TestSendOptions = {}): Promise<Received> =>
      caller.send(text, options);
    const begin = async (text: string): Promise<string> => idOf(await caller.start(text, {}));
    const get = async (id: string): Promise<Received> => ({
      task: await caller.get(id, ""),
      reply: undefined,
    });
    const settled = async (id: string, state: string): Promise<Received> => {
      await until(async () => stateOf(await get(id)) === state);
      return get(id);
    };
    const says = (id: string, words: string): Promise<void> =>
      until(async () => textIn(await get(id)).includes(words));
    const trail = (): readonly string[] => {
      const file = join(folder, "trail");
      return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    };
    const open = (): void => writeFileSync(join(folder, "open"), "");

    it("streams its text into one artifact, chunk by chunk", async () => {
      await start();
      const events: AgentUpdate[] = [];
      for await (const event of caller.stream("stream", {})) events.push(event);
      const chunks = events
        .filter(event => event.kind === "artifact")
        .filter(event => textOf(event.artifact.parts) !== "");
      expect(chunks.length).toBeGreaterThan(1);
      expect(chunks.map(({ append }) => append)).toEqual(chunks.map((_, at) => at > 0));
      expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
      expect(chunks.map(({ artifact }) => textOf(artifact.parts)).join("")).toBe("one two three");
      expect(events.at(-1)).toMatchObject({ kind: "end", state: "completed" });
      const whole = await send("stream");
      expect([textIn(whole), whole.task?.artifacts.length]).toEqual(["one two three", 1]);
    });

    it("is stopped by a cancel, and its earlier output stays", async () => {
      await start();
      const id = await begin("wait");
      await says(id, "waiting");
      expect((await caller.cancel(id, "")).state).toBe("canceled");
      await until(() => trail().includes("stopped"));
      const canceled = await get(id);
      expect([stateOf(canceled), textIn(canceled)]).toEqual(["canceled", "waiting"]);
      expect(textIn(await send("stream"))).toBe("one two three");
    });

    it("fails without exposing the reason to the caller; the reason is in the log", async () => {
      await start();
      const failed = await send("fail");
      expect(stateOf(failed)).toBe("failed");
      expect(JSON.stringify(failed)).not.toContain("SECRET");
      const ref = /under (\S+)\.$/.exec(statusText(failed))?.[1];
      expect(ref).toBeDefined();
      await until(() => host.log().includes(ref as string));
      expect(host.log()).toContain("SECRET");
    });

    it("knows the earlier messages of its context, also after a crash, and none of other contexts", async () => {
      await start();
      const contextId = "mine";
      expect(textIn(await send("recall", { contextId }))).toBe("nothing");
      expect(textIn(await send("apples", { contextId }))).toBe("ok");
      await send("pears", { contextId: "other" });
      await host.crash();
      expect(textIn(await send("recall", { contextId }))).toBe("recall, apples");
    });

    it("starts over or continues after a crash, and repeats no output", async () => {
      await start();
      const id = await begin("work");
      await says(id, "before");
      await host.crash();
      if (!runtime.resumes) await until(() => trail().length === 2);
      open();
      const ended = await settled(id, "completed");
      expect([textIn(ended), ended.task?.artifacts.length]).toEqual(["before after", 1]);
      expect(await readText(host.fetch, id)).toBe("before after");
      expect(trail()).toEqual(runtime.resumes ? ["begun"] : ["begun", "begun"]);
    });

    it("is not run again after a crash if onCrash is set to fail", async () => {
      await start({ onCrash: "fail" });
      const id = await begin("work");
      await says(id, "before");
      await host.crash();
      open();
      const failed = await settled(id, "failed");
      expect([statusText(failed), textIn(failed), trail()]).toEqual([
        "The run was interrupted, and this agent does not repeat runs",
        "before ",
        ["begun"],
      ]);
    });

    if (runtime.asks !== false)
      it("asks its caller, and gets the answer after a crash", async () => {
        await start();
        const asked = await send("ask");
        expect(stateOf(asked)).toBe("input-required");
        expect(JSON.stringify(asked.task?.message)).toContain("Which colour?");
        await host.crash();
        const ended = await send("blue", { taskId: idOf(asked) });
        expect([stateOf(ended), textIn(ended)]).toEqual(["completed", "You chose blue"]);
      });

    if (runtime.spends !== false)
      it("reports its usage", async () => {
        await start();
        const id = idOf(await send("spend"));
        // The only dialect that shows usage.
        const { metadata } = await call(host.fetch, "/v1/a2a/agents/tested", "tasks/get", { id });
        const counts = metadata as JsonObject;
        expect([counts["x-arbiter.input_tokens"], counts["x-arbiter.output_tokens"]]).toEqual([7, 5]);
      });
  });
}

const idOf = ({ task }: Received): string => task?.id ?? "";
const stateOf = ({ task }: Received): string | undefined => task?.state;
const statusText = ({ task }: Received): string => textOf(task?.message?.parts ?? []);

const post = (method: string, params: object, headers: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
});

async function call(fetch: Fetch, path: string, method: string, params: object): Promise<JsonObject> {
  const response = await fetch(TEST_URL + path, post(method, params, {}));
  return ((await response.json()) as { result: JsonObject }).result;
}

/** The text of a reader that follows the whole log, chunk by chunk. */
async function readText(fetch: Fetch, id: string): Promise<string> {
  const headers = { "a2a-version": "1.0", accept: "text/event-stream", "last-event-id": "0" };
  const response = await fetch(`${TEST_URL}/agents/tested`, post("SubscribeToTask", { id }, headers));
  let text = "";
  for (const [, data = ""] of (await response.text()).matchAll(/^data: (.*)$/gm)) {
    const { artifactUpdate: update } = JSON.parse(data).result;
    const added = (update?.artifact.parts ?? []).map((part: { text?: string }) => part.text ?? "").join("");
    if (update) text = update.append ? text + added : added;
  }
  return text;
}
