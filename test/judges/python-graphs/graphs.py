"""The graphs of test/judges/python-graph.test.ts. TRAIL names a file to which nodes add lines."""

import asyncio
import contextlib
import dataclasses
import math
import os
import signal
import threading
import time
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel

print("printed while it is imported")


def mark(line):
    with open(os.environ["TRAIL"], "a") as trail:
        trail.write(line + "\n")


def say(text):
    return {"messages": [AIMessage(content=text)]}


def chain(**nodes):
    builder = StateGraph(MessagesState)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder


# Streaming and turns.
model = FakeListChatModel(responses=["first answer", "second answer"])


async def answer(state):
    print("printed by a node")
    return {"messages": [await model.ainvoke(state["messages"])]}


def count(state):
    answers = [one for one in state["messages"] if one.type == "ai"]
    return say(f"turn {len(answers) + 1}: {state['messages'][-1].content}")


speaker = chain(answer=answer).compile()
counter = chain(count=count)


# Questions: two at once, one of them in a subgraph.
def colour(state):
    return say("colour " + interrupt({"question": "Which colour?"}))


def size(state):
    mark("size")
    return say("size " + interrupt("Which size?"))


inner = chain(size=size).compile()
asker = (
    StateGraph(MessagesState)
    .add_node("colour", colour)
    .add_node("sub", inner)
    .add_node("end", lambda state: say("done"))
    .add_edge(START, "colour")
    .add_edge(START, "sub")
    .add_edge(["colour", "sub"], "end")
    .compile()
)
paused = chain(a=lambda state: say("a"), b=lambda state: say("b")).compile(interrupt_before=["b"])


# Crashes of the process.
def first(state):
    mark("first")
    return say("first ")


def dies_once(state):
    mark("second")
    if not os.path.exists(os.environ["TRAIL"] + ".died"):
        open(os.environ["TRAIL"] + ".died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return say("second")


def dies(state):
    mark("dies")
    os._exit(3)


fragile = chain(first=first, second=dies_once).compile()
hopeless = chain(first=first, dies=dies).compile()


# Failures.
def fails(state):
    secret = {}
    return secret["SECRET"]


def unserialisable(state):
    return {"lock": threading.Lock()}


class Lock(TypedDict, total=False):
    messages: list
    lock: Any


failing = chain(fails=fails).compile()
locked = (
    StateGraph(Lock)
    .add_node("make", unserialisable)
    .add_node("use", lambda state: {})
    .add_edge(START, "make")
    .add_edge("make", "use")
    .compile()
)
endless = StateGraph(MessagesState).add_node("a", lambda state: say("")).add_edge(START, "a").add_edge("a", "a").compile()


# Cancels.
def blocks(state):
    mark("begun")
    time.sleep(30)
    return say("never")


async def waits(state):
    mark("begun")
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        mark("canceled")
        raise


blocking = chain(blocks=blocks).compile()
waiting = chain(waits=waits).compile()


# States without messages.
class Numbers(TypedDict):
    a: float
    b: float
    total: float


class Question(TypedDict):
    a: float
    b: float


class Total(TypedDict):
    total: float


adder = (
    StateGraph(Numbers, input_schema=Question, output_schema=Total)
    .add_node("add", lambda state: {"total": state["a"] + state["b"]})
    .add_edge(START, "add")
    .compile()
)
nan = StateGraph(Numbers).add_node("n", lambda state: {"total": math.nan, "b": 1}).add_edge(START, "n").compile()


class Order(BaseModel):
    amount: int
    note: str = "none"


class Line(BaseModel):
    text: str


class Orders(BaseModel):
    amount: int
    lines: list[Line] = []


orders = (
    StateGraph(Orders)
    .add_node("order", lambda state: {"lines": [*state.lines, Line(text=f"{state.amount} pieces")]})
    .add_edge(START, "order")
    .compile()
)


# Factories.
async def make_graph(config: RunnableConfig):
    model = config["configurable"].get("model", "none")
    return chain(a=lambda state: say(f"made for {model}"))


@contextlib.asynccontextmanager
async def make_managed(config: RunnableConfig):
    mark("open")
    yield chain(a=lambda state: say("managed")).compile()
    mark("close")


# What a run gets.
@dataclasses.dataclass
class Context:
    model: str = "default"


def tells(state: MessagesState, config: RunnableConfig, runtime: Runtime[Context]):
    return say(f"{config['metadata']['thread_id']} {config['configurable']['thread_id']} {runtime.context.model}")


telling = StateGraph(MessagesState, context_schema=Context).add_node("tells", tells).add_edge(START, "tells").compile()


# The store.
async def remembers(state: MessagesState, runtime: Runtime):
    store = runtime.store
    before = await store.aget(("facts", "a"), "last")
    await store.aput(("facts", "a"), "last", {"text": state["messages"][-1].content, "n": 1}, ttl=5)
    await store.aput(("facts", "b"), "gone", {"n": 2}, index=False)
    await store.adelete(("facts", "b"), "gone")
    found = await store.asearch(("facts",), filter={"n": 1}, limit=5)
    names = await store.alist_namespaces(prefix=("facts",))
    return say(f"{before and before.value['text']} {[one.key for one in found]} {names} {before and before.created_at is not None}")


def remembers_in_thread(state: MessagesState, runtime: Runtime):
    runtime.store.put(("sync",), "k", {"v": 1})
    return say(str(runtime.store.get(("sync",), "k").value))


remembering = chain(remembers=remembers, in_thread=remembers_in_thread).compile()


# A node that calls a graph without await, in its thread.
def calls(state):
    return {"messages": [inner_answer.invoke({"messages": state["messages"]})["messages"][-1]]}


inner_answer = chain(a=lambda state: say("from inside")).compile()
calling = chain(calls=calls).compile()
own_saver = chain(count=count).compile(checkpointer=InMemorySaver())
stateless = chain(count=count).compile(checkpointer=False)
