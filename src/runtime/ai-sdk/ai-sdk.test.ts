import { jsonSchema, type StopCondition, ToolLoopAgent, type ToolSet, tool } from "ai";
import { describe, expect, test } from "vitest";
import {
  fakeModel,
  type ModelRequest,
  type ModelScript,
  type Piece,
} from "../../../test/support/ai-model.ts";
import { Conversation } from "../../../test/support/turn.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { textOf } from "../../model/index.ts";
import { type AiSdkOptions, aiSdk, type StreamingAgent } from "./index.ts";

const anything = jsonSchema<{ city: string }>({ type: "object" });

/** What tools were called with, and a few of them. */
function createTools() {
  const done: string[] = [];
  const look = (city: string): { city: string; degrees: number } => {
    done.push(city);
    if (city === "Atlantis") throw new Error("SECRET");
    return { city, degrees: 21 };
  };
  const weather = tool({ inputSchema: anything, execute: async ({ city }) => look(city) });
  const book = tool({ inputSchema: anything, needsApproval: true, execute: async ({ city }) => look(city) });
  const choose = tool({ inputSchema: anything, outputSchema: jsonSchema<unknown>({}) });
  return { done, tools: { weather, book, choose } };
}

const call = (id: string, name: string, city: string): Piece => ({ id, tool: name, args: { city } });
/** What came out of tools, as a model sees it. */
const outputs = ({ results }: ModelRequest): string =>
  results.map(one => JSON.stringify((one as { output: unknown }).output)).join(" ");

const made = (play: ModelScript, tools: ToolSet = {}, stopWhen?: StopCondition<ToolSet>): StreamingAgent =>
  new ToolLoopAgent({ model: fakeModel(play), tools, ...(stopWhen && { stopWhen }) });
const served = (agent: StreamingAgent, more: Partial<AiSdkOptions> = {}) =>
  aiSdk(agent, { name: "tested", ...more });

async function answer(
  agent: StreamingAgent,
  more: Partial<AiSdkOptions> = {},
  said: string | readonly Part[] = "hi",
) {
  const conversation = new Conversation().addMessage(said);
  await conversation.run(served(agent, more));
  return conversation;
}
const artifactsOf = ({ task }: Conversation): unknown[] =>
  task.artifacts.map(({ name, parts }) => {
    const [part] = parts;
    return [name, part?.kind === "data" ? part.data : textOf(parts)];
  });
const textIn = (conversation: Conversation): string =>
  conversation.task.artifacts.map(one => (one.name === "response" ? textOf(one.parts) : "")).join("");
const wordsIn = ({ task }: Conversation): string => textOf(task.status.message?.parts ?? []);

describe("an agent", () => {
  const twice: ModelScript = function* (asked) {
    if (asked.results.length > 0) return yield `It is ${outputs(asked)}`;
    yield "Let me look. ";
    yield call("1", "weather", "Oslo");
  };

  test("streams its text, outputs tool calls as data, and counts the tokens of all steps", async () => {
    const { tools, done } = createTools();
    const conversation = await answer(made(twice, tools));
    const result = '{"type":"json","value":{"city":"Oslo","degrees":21}}';
    expect(artifactsOf(conversation)).toEqual([
      ["response", `Let me look. \n\nIt is ${result}`],
      ["tool-call", { id: "1", tool: "weather", args: { city: "Oslo" } }],
      ["tool-result", { id: "1", tool: "weather", status: "success", result: { city: "Oslo", degrees: 21 } }],
    ]);
    expect(conversation.task.usage).toEqual({ inputTokens: 14, outputTokens: 10, totalTokens: 24 });
    expect(done).toEqual(["Oslo"]);
  });

  test("can hide tools, show reasoning, and separate the text of steps by any string", async () => {
    const thought = "Hm.";
    const think: ModelScript = function* (asked) {
      yield { part: { type: "reasoning-start", id: "r" } };
      yield { part: { type: "reasoning-delta", id: "r", delta: thought } };
      yield { part: { type: "reasoning-end", id: "r" } };
      yield* twice(asked) as Iterable<Piece>;
    };
    const { tools } = createTools();
    const conversation = await answer(made(think, tools), {
      tools: false,
      reasoning: true,
      separator: " / ",
    });
    const names = conversation.task.artifacts.map(one => one.name);
    expect(names).toEqual(["reasoning", "response"]);
    expect(textIn(conversation)).toContain("Let me look.  / It is");
  });

  test("gets the error of a failed tool; the caller gets only the status", async () => {
    const { tools } = createTools();
    const play: ModelScript = function* (asked) {
      if (asked.results.length > 0) yield outputs(asked).includes("SECRET") ? "It failed." : "?";
      else yield call("1", "weather", "Atlantis");
    };
    const conversation = await answer(made(play, tools));
    expect(artifactsOf(conversation).at(-1)).toEqual(["response", "It failed."]);
    expect(artifactsOf(conversation)).toContainEqual([
      "tool-result",
      { id: "1", tool: "weather", status: "error" },
    ]);
    expect(JSON.stringify(conversation.task)).not.toContain("SECRET");
    expect(conversation.logged).toMatchObject([{ text: "a tool failed", facts: { tool: "weather" } }]);
  });

  test("gets images as files, and outputs files", async () => {
    const png: Part = { kind: "bytes", bytes: "iVBORw==", mediaType: "image/png", filename: "a.png" };
    let prompt: unknown;
    const play: ModelScript = function* (asked) {
      prompt = asked.prompt[0].content;
      const data = { type: "data" as const, data: "R0lG" };
      yield { part: { type: "file", mediaType: "image/gif", data } };
    };
    const conversation = await answer(made(play), {}, [
      { kind: "text", text: "Draw it" },
      png,
      { kind: "data", data: [1] },
    ]);
    expect(prompt).toMatchObject([
      { type: "text", text: "Draw it" },
      { type: "file", mediaType: "image/png", filename: "a.png" },
      { type: "text", text: "[1]" },
    ]);
    const part = conversation.task.artifacts[0]?.parts[0];
    expect(part).toEqual({ kind: "bytes", bytes: "R0lG", mediaType: "image/gif", filename: "file-1.gif" });
  });

  test("may be created for each run, and called with options", async () => {
    const agent = new ToolLoopAgent({
      model: fakeModel(({ prompt }) => [prompt[0].content]),
      callOptionsSchema: jsonSchema<{ who: string }>({ type: "object" }),
      prepareCall: ({ options, ...rest }) => ({ ...rest, instructions: `For ${options.who}` }),
    });
    const definition = aiSdk(() => agent, { name: "tested", options: task => ({ who: task.text }) });
    const conversation = new Conversation().addMessage("Ada");
    await conversation.run(definition);
    expect(textIn(conversation)).toBe("For Ada");
  });

  test("that throws fails with its own error", async () => {
    const broken: ModelScript = function* () {
      yield "Well";
      throw new Error("no such model");
    };
    await expect(answer(made(broken))).rejects.toThrow("no such model");
  });

  test("reports a response that was filtered or truncated", async () => {
    const filtered = await answer(new ToolLoopAgent({ model: fakeModel(() => ["W"], "content-filter") }));
    expect([filtered.task.status.state, wordsIn(filtered)]).toEqual([
      "failed",
      expect.stringMatching(/filter/),
    ]);
    const cut = await answer(new ToolLoopAgent({ model: fakeModel(() => ["Once"], "length") }));
    expect(cut.task.artifacts[0]).toMatchObject({ metadata: { finishReason: "length" } });
  });

  test("is stopped when the task is canceled", async () => {
    let stopped = false;
    const play: ModelScript = async function* ({ signal }) {
      yield "on and on";
      await new Promise(resolve => signal?.addEventListener("abort", resolve));
      stopped = true;
    };
    const conversation = new Conversation().addMessage("hi");
    const running = conversation.run(served(made(play)));
    running.catch(() => {});
    await expect.poll(() => conversation.task.artifacts.length).toBe(1);
    conversation.abort.abort(new Error("the run was canceled"));
    await expect(running).rejects.toThrow("the run was canceled");
    await expect.poll(() => stopped).toBe(true);
  });

  test("is checked", () => {
    expect(() => aiSdk({} as StreamingAgent, { name: "x" })).toThrow(/takes an agent of the AI SDK/);
    expect(() =>
      aiSdk(
        made(() => []),
        { name: "x", tool: true } as AiSdkOptions,
      ),
    ).toThrow('aiSdk() has no option "tool" (did you mean "tools"?)');
  });
});

describe("a tool that needs an approval", () => {
  const booking: ModelScript = function* (asked) {
    if (asked.results.length === 0)
      return yield* ["I would book. ", ...asked.text.split(" ").map((city, i) => call(`${i}`, "book", city))];
    yield `Well: ${outputs(asked)}`;
  };
  /** Asked, answered, and run again. */
  async function decide(said: string, answers: string | readonly Part[] | Record<string, Json>) {
    const { tools, done } = createTools();
    const agent = served(made(booking, tools), { tools: false });
    const conversation = new Conversation().addMessage(said);
    await conversation.run(agent);
    expect([conversation.task.status.state, done]).toEqual(["input-required", []]);
    const isText = typeof answers === "string" || Array.isArray(answers);
    if (isText) conversation.addMessage(answers as string);
    else conversation.addAnswers(answers as Record<string, Json>);
    await conversation.run(agent);
    return { conversation, done };
  }
  const idsOf = ({ task }: Conversation): readonly string[] => task.status.asks ?? [];

  test("is asked for, as text and as data that programs can answer", async () => {
    const { tools } = createTools();
    const { task } = await answer(made(booking, tools), {}, "Oslo");
    const [words, data] = task.status.message?.parts ?? [];
    expect(words).toEqual({
      kind: "text",
      text: 'May book be called with {"city":"Oslo"}? Answer yes or no.',
    });
    expect(data).toMatchObject({
      data: {
        id: task.status.asks?.[0],
        value: { type: "tool-approval", tool: "book", args: { city: "Oslo" } },
      },
    });
    expect(textOf(task.artifacts[0]?.parts ?? [])).toBe("I would book. ");
  });

  const yes: readonly (readonly [string, string | readonly Part[]])[] = [
    ["a word", " Yes "],
    ["data", [{ kind: "data", data: { approved: true } }]],
    ["a truth", [{ kind: "data", data: true }]],
  ];
  test.each(yes)("is called after a yes: %s", async (_what, given) => {
    const { conversation, done } = await decide("Oslo", given);
    expect(done).toEqual(["Oslo"]);
    expect(textOf(conversation.task.artifacts.at(-1)?.parts ?? [])).toBe(
      'Well: {"type":"json","value":{"city":"Oslo","degrees":21}}',
    );
  });

  test("is not called after a no, and the model gets the reason", async () => {
    const { conversation, done } = await decide("Oslo", [
      { kind: "data", data: { approved: false, reason: "too cold" } },
    ]);
    expect(done).toEqual([]);
    expect(textOf(conversation.task.artifacts.at(-1)?.parts ?? [])).toContain("too cold");
  });

  test("stays open if the answer is unclear", async () => {
    const { conversation, done } = await decide("Oslo", "What does it cost?");
    expect([conversation.task.status.state, done]).toEqual(["input-required", []]);
    expect(idsOf(conversation)).toHaveLength(1);
  });

  test("may be one of several: each gets its own answer, or all get the same", async () => {
    const { tools, done } = createTools();
    const agent = served(made(booking, tools));
    const conversation = new Conversation().addMessage("Oslo Rome");
    await conversation.run(agent);
    const [oslo, rome] = idsOf(conversation) as [string, string];
    conversation.addAnswers({ [oslo]: { approved: true }, [rome]: "no" });
    await conversation.run(agent);
    expect(done).toEqual(["Oslo"]);
    expect(conversation.task.artifacts.map(one => one.artifactId)).toContain("tool-result-0");
    expect((await decide("Oslo Rome", "yes")).done).toEqual(["Oslo", "Rome"]);
  });

  test("is called once, wherever the run is interrupted after it", async () => {
    const { tools, done } = createTools();
    let isBroken = true;
    const fragile: ModelScript = function* (asked) {
      yield* booking(asked) as Iterable<Piece>;
      if (asked.results.length > 0 && isBroken) throw new Error("cut off");
    };
    const agent = served(made(fragile, tools), { tools: false });
    const conversation = new Conversation().addMessage("Oslo");
    await conversation.run(agent);
    conversation.addMessage("yes");
    await expect(conversation.run(agent)).rejects.toThrow("cut off");
    // What a crash leaves: the note of the error is never written.
    conversation.steps = conversation.steps.filter(note => !note.threw);
    isBroken = false;
    await conversation.run(agent);
    expect(done).toEqual(["Oslo"]);
    expect(textOf(conversation.task.artifacts.at(-1)?.parts ?? [])).toMatch(/^Well: .*Oslo/);
  });
});

test("the caller is asked for the result of a tool without an execute function", async () => {
  const { tools } = createTools();
  const play: ModelScript = function* (asked) {
    if (asked.results.length > 0) yield `You said ${outputs(asked)}`;
    else yield* [call("a", "choose", "Oslo"), call("b", "choose", "Rome")];
  };
  const agent = served(made(play, tools), { tools: false });
  const conversation = new Conversation().addMessage("hi");
  await conversation.run(agent);
  expect(conversation.task.status.asks).toEqual(["a", "b"]);
  conversation.addMessage("north");
  await conversation.run(agent);
  expect(conversation.task.status.state).toBe("input-required");
  conversation.addAnswers({ a: "north", b: { south: true } });
  await conversation.run(agent);
  expect(textIn(conversation)).toBe(
    'You said {"type":"text","value":"north"} {"type":"json","value":{"south":true}}',
  );
});
