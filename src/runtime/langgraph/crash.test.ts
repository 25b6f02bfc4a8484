import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import {
  ai,
  asNode,
  chain,
  graphAgent,
  responseText,
  type State,
  stateOf,
  textsIn,
} from "../../../test/support/graph-turns.ts";
import { Conversation } from "../../../test/support/turn.ts";
import { functionRuntime } from "../function/index.ts";
import type { GraphSource } from "./index.ts";

/** A graph whose node `here` cannot be passed until it is mended: what a crash at that place is to the graph. */
class Wreck {
  readonly done: string[] = [];
  broken = true;

  readonly step =
    (name: string, words = `${name} `) =>
    () => {
      this.done.push(name);
      return { messages: [ai(words)] };
    };
  readonly here =
    (words = "here ") =>
    async (state: State) => {
      const said = await new FakeListChatModel({ responses: [words] }).invoke(state.messages);
      this.done.push("here");
      if (this.broken) throw new Error("crash");
      return { messages: [said] };
    };
}

async function crashAndResume(wreck: Wreck, graph: GraphSource, more: object = {}) {
  const agent = graphAgent(graph, { separator: "", ...more });
  const conversation = new Conversation().addMessage("hi");
  await expect(conversation.run(agent)).rejects.toThrow("crash");
  wreck.broken = false;
  const before = wreck.done.length;
  const events = await conversation.run(agent);
  return { conversation, agent, texts: textsIn(events), again: wreck.done.slice(before) };
}

describe("an attempt after a crash", () => {
  test("resumes after the last checkpoint: completed nodes do not run again, and their output is replayed", async () => {
    const wreck = new Wreck();
    const graph = chain({ a: wreck.step("a"), b: wreck.step("b"), here: wreck.here(), c: wreck.step("c") });
    const { texts, again, conversation } = await crashAndResume(wreck, graph);
    expect(again).toEqual(["here", "c"]);
    expect(texts.slice(0, 2)).toEqual(["a ", "b "]);
    expect(responseText(conversation)).toBe("a b here c ");
  });

  test("starts again if no node was completed", async () => {
    const wreck = new Wreck();
    const { texts, again } = await crashAndResume(wreck, chain({ here: wreck.here() }));
    expect([again, texts.join("")]).toEqual([["here"], "here "]);
  });

  test("does not repeat nodes that were completed in parallel to the crash", async () => {
    const wreck = new Wreck();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("side", wreck.step("side"))
      .addNode("slow", async (state: State) => {
        await new Promise(resolve => setTimeout(resolve, 30));
        return wreck.here()(state);
      })
      .addNode("end", wreck.step("end"))
      .addEdge(START, "side")
      .addEdge(START, "slow")
      .addEdge(["side", "slow"], "end");
    const { again, conversation } = await crashAndResume(wreck, graph.compile());
    expect(again).toEqual(["here", "end"]);
    expect(responseText(conversation)).toBe("side here end ");
  });

  test("resumes inside of a subgraph", async () => {
    const wreck = new Wreck();
    const inner = chain({ i: wreck.step("i"), here: wreck.here() }).compile();
    const graph = chain({ a: wreck.step("a"), sub: asNode(inner), b: wreck.step("b") });
    const { again, conversation } = await crashAndResume(wreck, graph);
    expect(again).toEqual(["here", "b"]);
    expect(responseText(conversation)).toBe("a i here b ");
  });

  test("replays tools and progress, each once", async () => {
    const wreck = new Wreck();
    const call = { id: "1", name: "t", args: {}, type: "tool_call" as const };
    const graph = chain({
      agent: () => ({ messages: [ai("thinking ", { tool_calls: [call] })] }),
      here: wreck.here(),
    });
    const { conversation } = await crashAndResume(wreck, graph, { tools: true, progress: true });
    expect(conversation.task.artifacts.map(one => one.artifactId)).toEqual(["response", "tool-call-1"]);
    expect(responseText(conversation)).toBe("thinking here ");
  });

  test("replays long text in several events, and splits no surrogate pair", async () => {
    const wreck = new Wreck();
    const long = `${"x".repeat(999_999)}😀${"y".repeat(1_500_000)}`;
    const { texts, conversation } = await crashAndResume(
      wreck,
      chain({ a: wreck.step("a", long), here: wreck.here() }),
    );
    expect(texts.slice(0, 3).map(text => text.length)).toEqual([1_000_001, 1_000_000, 500_000]);
    expect(responseText(conversation)).toBe(`${long}here `);
  });

  test("that finds the graph ended replays its output, or outputs its final state", async () => {
    const spoken = graphAgent(chain({ a: () => ({ messages: [ai("a")] }) }));
    const made = graphAgent(chain({ a: () => ({ topic: "fish" }) }));
    for (const agent of [spoken, made]) {
      const conversation = new Conversation().addMessage("hi");
      const first = await conversation.run(agent);
      const artifacts = conversation.task.artifacts;
      // Its end was not recorded: the same turn is run once more.
      const second = await conversation.run(agent);
      expect(conversation.task.artifacts).toEqual(artifacts);
      expect(second).toEqual(first);
    }
  });

  test("in a turn that answers a question resumes with the answer", async () => {
    const wreck = new Wreck();
    const graph = new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, chosen: Annotation<string> }))
      .addNode("ask", () => {
        const chosen = String(interrupt("Which?"));
        wreck.done.push(`chose ${chosen}`);
        return { chosen };
      })
      .addNode("here", wreck.here() as never)
      .addNode("end", ({ chosen }) => ({ messages: [ai(chosen)] }))
      .addEdge(START, "ask")
      .addEdge("ask", "here")
      .addEdge("here", "end")
      .compile();
    const agent = graphAgent(graph, { separator: "" });
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent);
    const [id] = conversation.task.status.asks as [string];
    await expect(conversation.addAnswers({ [id]: "blue" }).run(agent)).rejects.toThrow("crash");
    wreck.broken = false;
    await conversation.run(agent);
    expect(wreck.done).toEqual(["chose blue", "here", "here"]);
    expect([stateOf(conversation), responseText(conversation)]).toEqual(["working", "here blue"]);
  });

  test("in which one of two answered nodes was completed resumes with the other", async () => {
    const wreck = new Wreck();
    const state = Annotation.Root({
      ...MessagesAnnotation.spec,
      a: Annotation<string>,
      b: Annotation<string>,
    });
    const graph = new StateGraph(state)
      .addNode("x", () => {
        const a = String(interrupt("A?"));
        wreck.done.push("x");
        return { a };
      })
      .addNode("y", async () => {
        const b = String(interrupt("B?"));
        await new Promise(resolve => setTimeout(resolve, 30));
        wreck.done.push("y");
        if (wreck.broken) throw new Error("crash");
        return { b };
      })
      .addNode("end", ({ a, b }) => ({ messages: [ai(`${a}${b}`)] }))
      .addEdge(START, "x")
      .addEdge(START, "y")
      .addEdge(["x", "y"], "end")
      .compile();
    const agent = graphAgent(graph);
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent);
    const [first, second] = conversation.task.status.asks as [string, string];
    await expect(conversation.addAnswers({ [first]: "1", [second]: "2" }).run(agent)).rejects.toThrow(
      "crash",
    );
    wreck.broken = false;
    await conversation.run(agent);
    expect([wreck.done, responseText(conversation)]).toEqual([["x", "y", "y"], "12"]);
  });

  test("does not run past a breakpoint", async () => {
    const done: string[] = [];
    const graph = chain({
      plan: () => {
        done.push("plan");
        return {};
      },
      send: () => {
        done.push("send");
        return {};
      },
    }).compile({ interruptBefore: ["send" as never] });
    const agent = graphAgent(graph);
    const conversation = new Conversation().addMessage("hi");
    // What it asks is not recorded: the same turn is run once more.
    for await (const event of functionRuntime(agent).run(conversation.turn()))
      expect(event.type).toBe("status");
    await conversation.run(agent);
    expect([done, stateOf(conversation)]).toEqual([["plan"], "input-required"]);
    await conversation.addMessage("go").run(agent);
    expect(done).toEqual(["plan", "send"]);
  });
});

describe("a graph with its own checkpointer", () => {
  test("uses it, and resumes from it after a crash", async () => {
    const wreck = new Wreck();
    const checkpointer = new MemorySaver();
    const graph = chain({ a: wreck.step("a"), here: wreck.here() }).compile({ checkpointer });
    const { conversation, again } = await crashAndResume(wreck, graph);
    expect([again, responseText(conversation)]).toEqual([["here"], "a here "]);
    expect(Object.keys(checkpointer.storage)).toEqual(["context-1"]);
    const kept = await conversation.storage.list({ prefix: "", max: 10 });
    expect(kept.every(({ key }) => key.startsWith("said/"))).toBe(true);
  });

  test("has a separate thread for every authenticated caller", async () => {
    const checkpointer = new MemorySaver();
    const graph = chain({ tell: state => ({ messages: [ai(`${state.messages.length}`)] }) }).compile({
      checkpointer,
    });
    const agent = graphAgent(graph);
    const say = async (caller: { tenant: string; principal: string }): Promise<string> => {
      const conversation = new Conversation().addMessage("hi");
      conversation.caller = caller;
      await conversation.run(agent);
      return responseText(conversation);
    };
    const [ann, bob] = ["ann", "bob"].map(principal => ({ tenant: "acme", principal })) as [never, never];
    // The second message of a task of the same name takes the place of the first.
    expect([await say(ann), await say(bob), await say(ann)]).toEqual(["1", "1", "2"]);
    const threads = Object.keys(checkpointer.storage);
    expect(threads).toHaveLength(2);
    for (const thread of threads) expect(thread).toMatch(/^caller-[0-9a-f]{32}-context-1$/);
  });

  test("or with checkpointer: false starts again after a crash", async () => {
    const wreck = new Wreck();
    const graph = chain({ a: wreck.step("a"), here: wreck.here() }).compile({ checkpointer: false });
    const { again, conversation } = await crashAndResume(wreck, graph);
    expect([again, responseText(conversation)]).toEqual([["a", "here"], "a here "]);
    expect(await conversation.storage.list({ prefix: "", max: 10 })).toEqual([]);
  });
});

describe("stored checkpoints", () => {
  const keysOf = async (conversation: Conversation): Promise<string[]> =>
    (await conversation.storage.list({ prefix: "", max: 1_000 })).map(one => one.key.slice(0, 4));
  const graph = chain({ a: () => ({ messages: [ai("a")] }), b: () => ({}), c: () => ({}) });

  test("are deleted except for the last of the turn before, unless keepCheckpoints is set", async () => {
    const sizes = async (more: object): Promise<number[]> => {
      const agent = graphAgent(graph, more);
      const found: number[] = [];
      let conversation = new Conversation();
      for (let i = 0; i < 3; i++) {
        conversation = new Conversation(conversation.storage);
        await conversation.addMessage("hi").run(agent);
        found.push((await keysOf(conversation)).filter(key => key.startsWith("c/")).length);
      }
      return found;
    };
    const [first, second, third] = (await sizes({})) as [number, number, number];
    expect(second).toBe(first + 1);
    expect(third).toBe(second);
    const all = (await sizes({ keepCheckpoints: true })) as [number, number, number];
    expect(all).toEqual([first, 2 * first, 3 * first]);
  });

  test("output of earlier turns is deleted", async () => {
    const ask = chain({ a: () => ({ messages: [ai("a")] }), ask: () => ({ topic: interrupt("?") }) });
    const agent = graphAgent(ask);
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent);
    expect(await keysOf(conversation)).toContain("said");
    const [id] = conversation.task.status.asks as [string];
    await conversation.addAnswers({ [id]: "x" }).run(agent);
    expect(await keysOf(conversation)).not.toContain("said");
  });
});
