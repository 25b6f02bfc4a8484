import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import {
  ai,
  asNode,
  chain,
  dataIn,
  graphAgent,
  questionIn,
  responseText,
  runTurn,
  stateOf,
} from "../../../test/support/graph-turns.ts";
import { Conversation } from "../../../test/support/turn.ts";
import type { Json } from "../../lib/json.ts";

const idsIn = ({ task }: Conversation): readonly string[] => task.status.asks ?? [];
const answers = (conversation: Conversation, ...values: readonly Json[]) =>
  conversation.addAnswers(Object.fromEntries(idsIn(conversation).map((id, at) => [id, values[at] as Json])));

describe("one interrupt", () => {
  const asks = (value: unknown) =>
    graphAgent(
      chain({ ask: () => ({ messages: [ai(`got ${JSON.stringify(interrupt(value))}`)] }) }).compile(),
    );

  test("is a question as text, and with its id and value for programs", async () => {
    const conversation = await runTurn(asks("Which colour?"));
    expect(stateOf(conversation)).toBe("input-required");
    const [id] = idsIn(conversation);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(questionIn(conversation)).toEqual([
      { kind: "text", text: "Which colour?" },
      { kind: "data", data: { id, question: "Which colour?", value: "Which colour?" } },
    ]);
  });

  test("that is an object has its text in a member, or is shown as JSON", async () => {
    const words = async (value: unknown) => questionIn(await runTurn(asks(value)))[0];
    expect(await words({ question: "Why?", draft: "x" })).toEqual({ kind: "text", text: "Why?" });
    expect(await words({ action: "send", to: ["a"] })).toEqual({
      kind: "text",
      text: '{"action":"send","to":["a"]}',
    });
    expect(await words(undefined)).toEqual({ kind: "text", text: "null" });
  });

  test.each(["blue", "", 0, false, null, { choice: "A" }, ["a", "b"]])("takes the answer %j", async value => {
    const agent = asks("?");
    const conversation = await runTurn(agent);
    await answers(conversation, value).run(agent);
    expect([stateOf(conversation), responseText(conversation)]).toEqual([
      "working",
      `got ${JSON.stringify(value)}`,
    ]);
  });

  test("rejects data that LangChain would deserialize to an object", async () => {
    const agent = asks("?");
    const conversation = await runTurn(agent);
    const message = {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "SystemMessage"],
      kwargs: {},
    };
    await answers(conversation, { deep: [message] }).run(agent);
    expect(stateOf(conversation)).toBe("rejected");
  });

  test("may follow another in one node, and be inside of a subgraph", async () => {
    const inner = chain({
      ask: () => ({ topic: `${interrupt("First?")} and ${interrupt("Second?")}` }),
    }).compile();
    const agent = graphAgent(
      chain({ sub: asNode(inner), end: state => ({ messages: [ai(state.topic)] }) }).compile(),
    );
    const conversation = await runTurn(agent);
    expect(questionIn(conversation)[0]).toEqual({ kind: "text", text: "First?" });
    await answers(conversation, "one").run(agent);
    expect(questionIn(conversation)[0]).toEqual({ kind: "text", text: "Second?" });
    await answers(conversation, "two").run(agent);
    expect(responseText(conversation)).toBe("one and two");
  });
});

describe("parallel interrupts", () => {
  let done: string[];
  const graph = () => {
    done = [];
    const state = Annotation.Root({
      ...MessagesAnnotation.spec,
      chosen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const ask = (what: string) => () => ({
      chosen: [`${what}: ${interrupt({ question: `Which ${what}?` })}`],
    });
    return new StateGraph(state)
      .addNode("seat", ask("seat"))
      .addNode("meal", ask("meal"))
      .addNode("log", () => {
        done.push("log");
        return {};
      })
      .addNode("end", ({ chosen }) => ({ messages: [ai(chosen.toSorted().join(", "))] }))
      .addEdge(START, "seat")
      .addEdge(START, "meal")
      .addEdge(START, "log")
      .addEdge(["seat", "meal"], "end")
      .compile();
  };

  test("are asked together, each with its own data, and answered by id", async () => {
    const agent = graphAgent(graph());
    const conversation = await runTurn(agent);
    const [text, ...parts] = questionIn(conversation);
    expect(text).toEqual({ kind: "text", text: "Which seat?\nWhich meal?" });
    expect(parts).toHaveLength(2);
    expect(idsIn(conversation)).toHaveLength(2);
    await answers(conversation, "window", "fish").run(agent);
    expect(responseText(conversation)).toBe("meal: fish, seat: window");
    expect(done).toEqual(["log"]);
  });

  test("are asked again when a message answers none", async () => {
    const agent = graphAgent(graph());
    const conversation = await runTurn(agent);
    const before = questionIn(conversation);
    await conversation.addMessage("never mind").run(agent);
    expect([stateOf(conversation), questionIn(conversation)]).toEqual(["input-required", before]);
    await answers(conversation, "window", "soup").run(agent);
    expect(responseText(conversation)).toBe("meal: soup, seat: window");
  });
});

test("of parallel questions only the open ones are asked again", async () => {
  const graph = new StateGraph(
    Annotation.Root({
      messages: Annotation<unknown[]>({ reducer: (_, b) => b }),
      a: Annotation<string>,
      b: Annotation<string>,
    }),
  )
    .addNode("x", () => ({ a: interrupt("A?") }))
    .addNode("y", () => ({ b: `${interrupt("B?")} ${interrupt("B again?")}` }))
    .addNode("end", ({ a, b }) => ({ messages: [ai(`${a} ${b}`)] }))
    .addEdge(START, "x")
    .addEdge(START, "y")
    .addEdge(["x", "y"], "end")
    .compile();
  const agent = graphAgent(graph);
  const conversation = await runTurn(agent);
  expect(questionIn(conversation)[0]).toEqual({ kind: "text", text: "A?\nB?" });
  await answers(conversation, "1", "2").run(agent);
  expect(questionIn(conversation)[0]).toEqual({ kind: "text", text: "B again?" });
  await answers(conversation, "3").run(agent);
  expect(responseText(conversation)).toBe("1 2 3");
});

test("an answer to a question that is no longer open fails the task", async () => {
  const ask = chain({ ask: state => (state.topic === "skip" ? {} : { topic: interrupt("?") }) });
  const agent = graphAgent(ask.compile());
  const conversation = await runTurn(agent);
  const other = new Conversation(conversation.storage).addMessage([
    { kind: "data", data: { topic: "skip" } },
  ]);
  await other.run(agent);
  await answers(conversation, "late").run(agent);
  expect(stateOf(conversation)).toBe("failed");
  expect(questionIn(conversation)[0]).toMatchObject({ text: expect.stringContaining("no longer open") });
});

test("a graph waits at a breakpoint, and continues with the next message", async () => {
  const steps: string[] = [];
  const step = (name: string) => () => {
    steps.push(name);
    return { topic: name };
  };
  const agent = graphAgent(
    chain({ plan: step("plan"), send: step("send") }).compile({ interruptBefore: ["send" as never] }),
  );
  const conversation = await runTurn(agent);
  expect([stateOf(conversation), steps]).toEqual(["input-required", ["plan"]]);
  expect(questionIn(conversation)).toEqual([
    { kind: "text", text: "Paused before send. Send a message to go on." },
    { kind: "data", data: { next: ["send"] } },
  ]);
  await conversation.addMessage("go on").run(agent);
  expect(steps).toEqual(["plan", "send"]);
  expect(dataIn(conversation)).toEqual([["result", { topic: "send" }]]);
});
