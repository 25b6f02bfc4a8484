import { AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { FakeListChatModel, FakeStreamingChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  Command,
  END,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import {
  ai,
  asNode,
  chain,
  dataIn,
  graphAgent,
  lastOf,
  responseText,
  runTurn,
  type State,
  stateOf,
  textsIn,
} from "../../../test/support/graph-turns.ts";
import { Conversation } from "../../../test/support/turn.ts";

const model = (words: string): FakeListChatModel => new FakeListChatModel({ responses: [words] });
const says = (words: string) => async (state: State) => ({
  messages: [await model(words).invoke(state.messages)],
});

describe("the text of a model", () => {
  test("is streamed into one artifact, token by token", async () => {
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(graphAgent(chain({ speak: says("one two") }).compile()));
    expect(textsIn(events)).toEqual([..."one two"]);
    expect(conversation.task.artifacts).toMatchObject([
      { artifactId: "response", parts: [{ kind: "text", text: "one two" }] },
    ]);
  });

  test("may be in blocks; only text is output", async () => {
    const chunks = [
      new AIMessageChunk({ content: [{ type: "reasoning", reasoning: "hm" }] }),
      new AIMessageChunk({
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    ];
    const speaker = new FakeStreamingChatModel({ chunks });
    const graph = chain({ speak: async state => ({ messages: [await speaker.invoke(state.messages)] }) });
    expect(responseText(await runTurn(graphAgent(graph.compile())))).toBe("ab");
  });

  test("in several messages is separated into paragraphs", async () => {
    const graph = chain({ first: says("Hello."), second: says("Bye.") }).compile();
    expect(responseText(await runTurn(graphAgent(graph)))).toBe("Hello.\n\nBye.");
    expect(responseText(await runTurn(graphAgent(graph, { separator: " " })))).toBe("Hello. Bye.");
  });

  test("of parallel nodes is not mixed", async () => {
    const slow = (words: string) => async (state: State) => ({
      messages: [await new FakeListChatModel({ responses: [words], sleep: 1 }).invoke(state.messages)],
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("a", slow("aaaaaaaa"))
      .addNode("b", slow("bbbb"))
      .addNode("c", slow("cccccccccccc"));
    for (const name of ["a", "b", "c"] as const) graph.addEdge(START, name as never);
    const words = responseText(await runTurn(graphAgent(graph.compile()))).split("\n\n");
    expect(words.toSorted()).toEqual(["aaaaaaaa", "bbbb", "cccccccccccc"]);
  });

  test("can be limited to some nodes, and exclude subgraphs", async () => {
    const inner = chain({ inside: says("inner") }).compile();
    const graph = chain({
      plan: says("plan") as never,
      sub: asNode(inner),
      answer: says("answer") as never,
    }).compile();
    expect(responseText(await runTurn(graphAgent(graph)))).toBe("plan\n\ninner\n\nanswer");
    expect(responseText(await runTurn(graphAgent(graph, { nodes: ["answer", "inside"] })))).toBe(
      "inner\n\nanswer",
    );
    // Then a subgraph speaks as any other node: when it is done.
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(graphAgent(graph, { subgraphs: false }));
    expect(responseText(conversation)).toBe("plan\n\ninner\n\nanswer");
    expect(textsIn(events)).toContain("\n\ninner");
    const silent = chain({
      plan: async state => ({ messages: [await model("no").invoke(state.messages, { tags: ["nostream"] })] }),
    });
    // Its message is still the answer of the node.
    expect(responseText(await runTurn(graphAgent(silent.compile())))).toBe("no");
  });
});

describe("messages that no model streams", () => {
  const plain = { role: "assistant", content: "plain" };
  const cases = [
    ["a message", () => ({ messages: [ai("plain")] })],
    ["one message that is no list", () => ({ messages: ai("plain") })],
    ["a plain object", () => ({ messages: [plain] })],
    ["a command", () => new Command({ update: { messages: [ai("plain")] }, goto: END })],
    [
      "all there is and one more",
      (state: { messages: object[] }) => ({ messages: [...state.messages, plain] }),
    ],
    ["others beside it", () => ({ messages: [new HumanMessage("not this"), ai("plain"), ai("")] })],
  ] as const;
  test.each(cases)("are output whole: %s", async (_what, run) => {
    const graph = chain({ speak: run }).compile();
    expect(responseText(await runTurn(graphAgent(graph)))).toBe("plain");
  });

  test("are output once, although later nodes return them", async () => {
    const graph = chain({
      speak: () => ({ messages: [plain] }),
      look: state => ({ messages: state.messages, count: state.messages.length }),
      sub: asNode(chain({ inside: () => ({ count: 7 }) }).compile()),
    });
    expect(responseText(await runTurn(graphAgent(graph.compile())))).toBe("plain");
  });

  test("in a subgraph are output once, although the subgraph returns them", async () => {
    const inner = chain({ inside: () => ({ messages: [plain] }) }).compile();
    const graph = chain({ sub: asNode(inner), end: () => ({ messages: [{ ...plain, content: "end" }] }) });
    expect(responseText(await runTurn(graphAgent(graph.compile())))).toBe("plain\n\nend");
  });

  test("are not output again if a model has streamed the same", async () => {
    const graph = chain({
      speak: async state => {
        const { content } = await model("streamed").invoke(state.messages);
        return { messages: [{ role: "assistant", content: content as string }] };
      },
    });
    expect(responseText(await runTurn(graphAgent(graph.compile())))).toBe("streamed");
  });

  test("in a state of plain objects, without a reducer, are output, too", async () => {
    const state = Annotation.Root({ messages: Annotation<{ role: string; content: string }[]> });
    const graph = new StateGraph(state)
      .addNode("speak", ({ messages }) => ({
        messages: [
          ...messages,
          { role: "assistant", content: `${messages.at(-1)?.content} ${messages.length}` },
        ],
      }))
      .addEdge(START, "speak")
      .compile();
    const conversation = new Conversation().addMessage("a");
    await conversation.run(graphAgent(graph));
    expect(responseText(conversation)).toBe("a 1");
    expect(conversation.task.artifacts).toHaveLength(1);
  });
});

describe("a graph without text", () => {
  test("responds with its final state", async () => {
    const graph = chain({ work: () => ({ topic: "fish", count: 3 }) }).compile();
    expect(dataIn(await runTurn(graphAgent(graph)))).toEqual([["result", { topic: "fish", count: 3 }]]);
  });

  test("with the members of its output only", async () => {
    const input = Annotation.Root({ topic: Annotation<string> });
    const all = Annotation.Root({ ...input.spec, secret: Annotation<string>, answer: Annotation<string> });
    const output = Annotation.Root({ answer: Annotation<string> });
    const graph = new StateGraph({ state: all, input, output })
      .addNode("work", ({ topic }) => ({ answer: `about ${topic}`, secret: "x" }))
      .addEdge(START, "work")
      .compile();
    const made = await runTurn(graphAgent(graph), [{ kind: "data", data: { topic: "fish" } }]);
    expect(dataIn(made)).toEqual([["result", { answer: "about fish" }]]);
  });

  test("with the member of the option output, as text if it is a string", async () => {
    const graph = chain({ work: () => ({ topic: "fish", count: 3 }) }).compile();
    expect(responseText(await runTurn(graphAgent(graph, { output: "topic" })))).toBe("fish");
    expect(dataIn(await runTurn(graphAgent(graph, { output: "count" })))).toEqual([["result", 3]]);
    expect(dataIn(await runTurn(graphAgent(graph, { output: "nothing" })))).toEqual([]);
  });

  test("may use the functional API", async () => {
    const shout = entrypoint("shout", async (input: { messages: { content: string }[] }) =>
      (input.messages[0]?.content ?? "").toUpperCase(),
    );
    expect(responseText(await runTurn(graphAgent(shout as never)))).toBe("HI");
    const count = entrypoint("count", async (input: object) => ({ keys: Object.keys(input) }));
    expect(dataIn(await runTurn(graphAgent(count as never)))).toEqual([["result", { keys: ["messages"] }]]);
  });
});

describe("optional output", () => {
  const call = { id: "call-1", name: "weather", args: { city: "Oslo" }, type: "tool_call" as const };
  const tools = chain({
    agent: () => ({ messages: [ai("Let me see.", { tool_calls: [call] })] }),
    tools: () => ({
      messages: [new ToolMessage({ content: "rain", tool_call_id: "call-1", name: "weather" })],
    }),
    answer: state => ({ messages: [ai(`It is ${lastOf(state)}.`)] }),
  }).compile();

  test("tool calls and results, as data", async () => {
    const quiet = await runTurn(graphAgent(tools));
    expect([responseText(quiet), dataIn(quiet)]).toEqual(["Let me see.\n\nIt is rain.", []]);
    const told = [
      ["tool-call", { id: "call-1", tool: "weather", args: { city: "Oslo" } }],
      ["tool-result", { id: "call-1", tool: "weather", status: "success", result: "rain" }],
    ];
    expect(dataIn(await runTurn(graphAgent(tools, { tools: true })))).toEqual(told);
    const outer = chain({ sub: asNode(tools), end: () => ({}) }).compile();
    expect(dataIn(await runTurn(graphAgent(outer, { tools: true })))).toEqual(told);
  });

  test("the running node", async () => {
    const progress = async (given: boolean | ((node: string) => string | undefined)) => {
      const conversation = new Conversation().addMessage("hi");
      const events = await conversation.run(graphAgent(tools, { progress: given }));
      return events.flatMap(event => (event.type === "status" ? event.message?.parts : []));
    };
    const text = (words: string) => ({ kind: "text", text: words });
    expect(await progress(true)).toEqual(["agent", "tools", "answer"].map(text));
    expect(await progress(node => (node === "tools" ? "Looking it up" : undefined))).toEqual([
      text("Looking it up"),
    ]);
  });

  test("custom values of nodes", async () => {
    const graph = chain({
      work: (_state, config) => {
        config.writer?.({ percent: 50 });
        config.writer?.("half");
        return { messages: [ai("done")] };
      },
    }).compile();
    expect(responseText(await runTurn(graphAgent(graph)))).toBe("done");
    expect(
      dataIn(await runTurn(graphAgent(graph, { custom: "data" }))).map(one => (one as unknown[])[1]),
    ).toEqual([{ percent: 50 }, "half"]);
    expect(responseText(await runTurn(graphAgent(graph, { custom: "text", separator: "|" })))).toBe(
      '{"percent":50}half|done',
    );
    const custom = (chunk: unknown) => (typeof chunk === "string" ? { status: chunk } : undefined);
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(graphAgent(graph, { custom }));
    expect(events.map(event => event.type)).toEqual(["status", "artifact"]);
  });

  test("a graph that reaches the recursion limit fails with a message", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("round", () => ({}))
      .addEdge(START, "round")
      .addEdge("round", "round")
      .compile();
    const conversation = await runTurn(graphAgent(graph, { recursionLimit: 4 }));
    expect(stateOf(conversation)).toBe("failed");
    expect(conversation.task.status.message?.parts).toEqual([
      { kind: "text", text: "The graph was stopped after 4 steps (recursion limit)" },
    ]);
  });
});
