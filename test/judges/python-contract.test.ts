import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { testRuntime } from "../support/runtime-host.ts";
import { installPython, LANGGRAPH_PACKAGES } from "./python.ts";

/** The table of the contract as a graph: the last message selects the node. */
const GRAPH = `
import asyncio, os
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

speaker = FakeListChatModel(responses=["one two three"])

class Spender(FakeListChatModel):
    def _stream(self, *args, **kwargs):
        for text, i, o in (("sp", 3, 2), ("ent", 4, 3)):
            usage = {"input_tokens": i, "output_tokens": o, "total_tokens": i + o}
            yield ChatGenerationChunk(message=AIMessageChunk(content=text, usage_metadata=usage))
spender = Spender(responses=["spent"])

def mark(line):
    with open("trail", "a") as trail:
        trail.write(line + "\\n")

def say(text):
    return {"messages": [AIMessage(content=text)]}

async def stream(state): return {"messages": [await speaker.ainvoke(state["messages"])]}
def work(state):
    mark("begun")
    return {}
# Its text is visible before its end is stored: a kill in between repeats this node, but not the one before it.
def before(state): return say("before ")
async def after(state):
    while not os.path.exists("open"):
        await asyncio.sleep(0.005)
    return say("after")
async def wait(state):
    try:
        await FakeListChatModel(responses=["waiting"]).ainvoke(state["messages"])
        await asyncio.sleep(2 ** 20)
    finally:
        mark("stopped")
def fail(state): raise ValueError("SECRET")
def ask(state): return say("You chose " + interrupt("Which colour?"))
def spend(state): return {"messages": [spender.invoke(state["messages"])]}
def recall(state):
    earlier = [one.content for one in state["messages"][:-1] if one.type == "human"]
    return say(", ".join(earlier) or "nothing")
def other(state): return say("ok")

builder = StateGraph(MessagesState)
nodes = [stream, work, before, after, wait, fail, ask, spend, recall, other]
for node in nodes:
    builder.add_node(node.__name__, node)
names = [node.__name__ for node in nodes]
def select(state):
    text = state["messages"][-1].content
    return text if text in names else "other"
builder.add_conditional_edges(START, select, names)
builder.add_edge("work", "before")
builder.add_edge("before", "after")
graph = builder.compile()
`;

const python = installPython("langgraph", LANGGRAPH_PACKAGES);

if (python === undefined)
  describe("an agent made with LangGraph for Python", () => it.skip("needs langgraph"));
else
  testRuntime({
    name: "LangGraph for Python",
    resumes: true,
    async createAgent(folder, more) {
      writeFileSync(join(folder, "tested.py"), GRAPH);
      const agent = {
        runtime: "langgraph",
        name: "tested",
        graph: "./tested.py:graph",
        separator: "",
        python,
      };
      return { agents: [{ ...agent, ...more }] };
    },
  });
