"""Calls a server with the official client for Python and prints what it answers, as JSON.

    python sdk.py URL

The server has the graphs `planner` (streams, asks), `counter` (keeps state) and `adder` (no messages).
"""

import asyncio
import json
import sys
import traceback

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client

url = sys.argv[1]
out = {}


def user(text):
    return {"messages": [{"role": "user", "content": text}]}


def texts(state):
    return [[one["type"], one["content"]] for one in state["values"]["messages"]]


async def read(stream):
    return [[part.event, part.data] async for part in stream]


async def refused(call):
    try:
        await call
        return None
    except Exception as error:
        return getattr(getattr(error, "response", None), "status_code", type(error).__name__)


async def assistants(client):
    found = await client.assistants.search(graph_id="planner")
    planner = found[0]
    graph = await client.assistants.get_graph(planner["assistant_id"])
    adder = (await client.assistants.search(graph_id="adder"))[0]["assistant_id"]
    schemas = await client.assistants.get_schemas(adder)
    made = await client.assistants.create("planner", name="mine", metadata={"a": 1}, config={"tags": ["t"]})
    changed = await client.assistants.update(made["assistant_id"], metadata={"b": 2})
    versions = await client.assistants.get_versions(made["assistant_id"])
    latest = await client.assistants.set_latest(made["assistant_id"], 1)
    count = await client.assistants.count(graph_id="planner")
    subgraphs = await client.assistants.get_subgraphs(planner["assistant_id"])
    await client.assistants.delete(made["assistant_id"])
    out["assistants"] = {
        "names": sorted(one["graph_id"] for one in await client.assistants.search()),
        "created_by": planner["metadata"]["created_by"],
        "nodes": [one["id"] for one in graph["nodes"]],
        "edges": [[one["source"], one["target"]] for one in graph["edges"]],
        "schemas": [sorted((schemas[name] or {}).get("properties", {})) for name in ("input_schema", "output_schema")],
        "changed": [changed["version"], changed["metadata"], latest["version"]],
        "versions": [one["version"] for one in versions],
        "count": count,
        "subgraphs": subgraphs,
        "gone": await refused(client.assistants.get(made["assistant_id"])),
        "missing": await refused(client.assistants.get("6ba7b821-9dad-11d1-80b4-00c04fd430c8")),
    }


async def threads(client):
    thread = await client.threads.create(metadata={"owner": "me"})
    tid = thread["thread_id"]
    empty = await client.threads.get_state(tid)
    first = await client.runs.wait(tid, "counter", input=user("one"))
    second = await client.runs.wait(tid, "counter", input=user("two"))
    state = await client.threads.get_state(tid)
    history = await client.threads.get_history(tid)
    await client.threads.update_state(tid, user("added"), as_node="count")
    updated = await client.threads.get_state(tid)
    old = await client.threads.get_state(tid, checkpoint_id=history[-1]["checkpoint"]["checkpoint_id"])
    copied = await client.threads.copy(tid)
    patched = await client.threads.update(tid, metadata={"more": 1})
    found = await client.threads.search(metadata={"owner": "me"}, limit=5)
    await client.threads.delete(copied["thread_id"])
    out["threads"] = {
        "status": thread["status"],
        "empty": [empty["values"] or {}, empty["next"]],
        "first": [one["content"] for one in first["messages"]],
        "second": [one["content"] for one in second["messages"]],
        "state": texts(state),
        "next": state["next"],
        "history": [[one["metadata"]["source"], one["metadata"]["step"], one["next"]] for one in history],
        "updated": texts(updated)[-1],
        "old": old["checkpoint"]["checkpoint_id"] == history[-1]["checkpoint"]["checkpoint_id"],
        "patched": patched["metadata"].get("more"),
        "found": tid in [one["thread_id"] for one in found],
        "gone": await refused(client.threads.get(copied["thread_id"])),
    }


async def runs(client):
    thread = await client.threads.create()
    tid = thread["thread_id"]
    modes = ["values", "updates", "messages-tuple", "custom"]
    stream = await read(client.runs.stream(tid, "planner", input=user("Lisbon"), stream_mode=modes))
    chunks = [data[0] for event, data in stream if event == "messages"]
    waiting = await client.threads.get(tid)
    state = await client.threads.get_state(tid)
    resumed = await read(client.runs.stream(tid, "planner", command={"resume": "yes"}, stream_mode="values"))
    listed = await client.runs.list(tid)
    other = (await client.threads.create())["thread_id"]
    run = await client.runs.create(other, "counter", input=user("later"))
    joined = await client.runs.join(other, run["run_id"])
    stateless = await client.runs.wait(None, "adder", input={"a": 1, "b": 2})
    events = await read(client.runs.stream(None, "counter", input=user("hi"), stream_mode="events"))
    out["runs"] = {
        "events": sorted({event for event, _ in stream}),
        "text": "".join(one["content"] for one in chunks),
        "one_id": len({one["id"] for one in chunks}),
        "interrupt": [data["__interrupt__"][0]["value"] for event, data in stream if event == "updates" and "__interrupt__" in data],
        "status": waiting["status"],
        "interrupts": [one["value"] for many in waiting["interrupts"].values() for one in many],
        "tasks": [[one["name"], [inner["value"] for inner in one["interrupts"]]] for one in state["tasks"]],
        "resumed": resumed[-1][1]["messages"][-1]["content"],
        "listed": [one["status"] for one in listed],
        "joined": joined["messages"][-1]["content"],
        "stateless": stateless,
        "langchain": sorted({data["event"] for event, data in events if event == "events"})[:2],
    }


async def cancel(client):
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "waiting", input=user("hi"))
    while (await client.runs.get(thread["thread_id"], run["run_id"]))["status"] == "pending":
        await asyncio.sleep(0.02)
    await client.runs.cancel(thread["thread_id"], run["run_id"], wait=True)
    out["cancel"] = (await client.runs.get(thread["thread_id"], run["run_id"]))["status"]


async def remote(client):
    graph = RemoteGraph("planner", url=url)
    config = {"configurable": {"thread_id": (await client.threads.create())["thread_id"]}}
    parts = [one async for one in graph.astream(user("Oslo"), config, stream_mode="updates")]
    state = await graph.aget_state(config)
    answer = await graph.ainvoke(Command(resume="no"), config)
    history = [one async for one in graph.aget_state_history(config)]
    drawn = await graph.aget_graph()
    counter = RemoteGraph("counter", url=url)
    out["remote"] = {
        "parts": [sorted(one) for one in parts],
        "next": list(state.next),
        "interrupts": [one.value for task in state.tasks for one in task.interrupts],
        "answer": answer["messages"][-1]["content"],
        "history": len(history),
        "nodes": sorted(drawn.nodes),
        "stateless": (await counter.ainvoke(user("alone")))["messages"][-1]["content"],
    }


async def main():
    client = get_client(url=url)
    for part in (assistants, threads, runs, cancel, remote):
        try:
            await part(client)
        except Exception as error:
            out[part.__name__] = "".join(traceback.format_exception(error))[-900:]
    print(json.dumps(out))


asyncio.run(main())
