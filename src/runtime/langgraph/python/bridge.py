"""Runs a LangGraph graph for a Dragoman server, which starts this file with the project's own Python.

    python bridge.py FILE_OR_MODULE NAME BYTES_MAX

Both sides write lines of JSON: docs/reference/program-protocol.md. This file needs langgraph and nothing else.
"""

import asyncio
import base64
import contextlib
import dataclasses
import datetime
import enum
import importlib
import importlib.util
import inspect
import json
import math
import os
import pathlib
import sys
import threading
import traceback
import typing
import uuid

# The lines of the protocol have a descriptor of their own: what the graph prints goes to standard error.
_lines = os.fdopen(os.dup(1), "wb", buffering=0)
os.dup2(2, 1)
_write_lock = threading.Lock()
_bytes_max = 0


class TooLarge(Exception):
    """A value that does not fit into one line."""


def write(line):
    data = encode(line)
    if len(data) > _bytes_max:
        raise TooLarge(f"{len(data)} bytes are too many for one value of a graph; the maximum is {_bytes_max}")
    view = memoryview(data)
    with _write_lock:
        while view:
            view = view[_lines.write(view) :]


def encode(line):
    try:
        text = json.dumps(line, default=to_plain, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        # NaN, keys that are no strings, or a cycle.
        text = json.dumps(to_json(line), separators=(",", ":"))
    return text.encode() + b"\n"


def to_plain(value):
    """The next step of an object towards JSON. Values without a JSON form become null."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump()
    if type(value).__name__ == "Interrupt":
        return interrupt_of(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # Not asdict, which copies what it cannot convert.
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)) or type(value).__name__ == "deque":
        return list(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": str(value)}
    if isinstance(value, (uuid.UUID, pathlib.PurePath)) or type(value).__name__ in ("Decimal", "ZoneInfo"):
        return str(value)
    to_dict = getattr(value, "to_dict", None) or getattr(value, "dict", None)
    return to_dict() if callable(to_dict) and not isinstance(value, type) else None


def to_json(value, levels=200):
    """The same for a whole value."""
    if levels == 0:
        return None
    if value is None or isinstance(value, (str, bool, int)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): to_json(inner, levels - 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(inner, levels - 1) for inner in value]
    return to_json(to_plain(value), levels - 1)


def to_error(error):
    """For operators: the traceback without the frames of this file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    text = "".join(
        traceback.format_exception(type(error), error, error.__traceback__)
        if len(own) == len(frames)
        else ["Traceback (most recent call last):\n", *traceback.format_list(own), *describe(error)]
    )
    facts = {"name": type(error).__name__, "message": str(error) or type(error).__name__, "traceback": text[-20_000:]}
    if isinstance(error, SyntaxError):
        facts.update(file=error.filename, line=error.lineno)
    elif isinstance(error, ModuleNotFoundError):
        facts.update(module=error.name)
    if "line" not in facts:
        user = [frame for frame in own if is_user_file(frame.filename)]
        if user:
            facts.update(file=user[-1].filename, line=user[-1].lineno)
    if type(error).__name__ == "ValidationError" and callable(getattr(error, "errors", None)):
        with contextlib.suppress(Exception):
            facts["issues"] = [{"message": one["msg"], "path": list(one["loc"])} for one in error.errors()]
    return facts


def describe(error):
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    lines = traceback.format_exception_only(type(error), error)
    if cause is None:
        return lines
    return [*lines, "Caused by:\n", *traceback.format_exception(type(cause), cause, cause.__traceback__)]


def is_user_file(name):
    return os.path.isabs(name) and name != __file__ and "site-packages" not in name and not name.startswith(sys.base_prefix)


# ---- the graph -----------------------------------------------------------------------------------------------


def load(target, name):
    """The value that the config names: `./agent.py:graph` or `package.module:graph`."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module = import_file(target) if target.endswith(".py") else importlib.import_module(target)
    if hasattr(module, name):
        return getattr(module, name)
    found = [(key, value) for key, value in vars(module).items() if not isinstance(value, type)]
    names = [key for key, value in found if is_graph(value) or hasattr(value, "compile")]
    graphs = f"; its graphs: {', '.join(names)}" if names else ""
    raise AttributeError(f'{target} has no "{name}"{graphs}')


def import_file(path):
    """A file in a package is imported as a module of it, so that its relative imports work."""
    folder, file = os.path.split(path)
    parts = [file[:-3]]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if len(parts) > 1:
        return importlib.import_module(".".join(parts))
    spec = importlib.util.spec_from_file_location(parts[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[parts[0]] = module
    spec.loader.exec_module(module)
    return module


def is_graph(value):
    return not isinstance(value, type) and hasattr(value, "astream") and hasattr(value, "aget_state")


def to_graph(value):
    if is_graph(value):
        return value
    if hasattr(value, "compile") and not isinstance(value, type):
        return value.compile()
    raise TypeError(f"expected a graph of LangGraph or a function that returns one, got {type(value).__name__}")


class Source:
    """A graph, or a factory that is called for each request with its config."""

    def __init__(self, value):
        self.is_factory = not is_graph(value) and not hasattr(value, "compile") and callable(value)
        self.value = value if self.is_factory else to_graph(value)

    @contextlib.asynccontextmanager
    async def open(self, config):
        if not self.is_factory:
            yield self.value
            return
        takes_config = len(inspect.signature(self.value).parameters) > 0
        made = self.value(config) if takes_config else self.value()
        if inspect.isawaitable(made):
            made = await made
        if hasattr(made, "__aenter__"):
            async with made as graph:
                yield to_graph(graph)
        elif hasattr(made, "__enter__"):
            with made as graph:
                yield to_graph(graph)
        else:
            yield to_graph(made)


def attempt(read):
    """A graph may be unable to describe itself, for example if its state has types without a JSON schema."""
    try:
        return read()
    except Exception:
        return None


def facts_of(graph):
    builder = getattr(graph, "builder", None)
    schemas, schema = getattr(builder, "schemas", None), getattr(builder, "input_schema", None)
    context = getattr(graph, "context_schema", None)
    return {
        "inputKeys": attempt(lambda: list(schemas[schema])),
        "contextKeys": attempt(lambda: list(typing.get_type_hints(context))) if context else None,
        "outputChannels": graph.output_channels,
        "interruptBefore": graph.interrupt_before_nodes,
        "interruptAfter": graph.interrupt_after_nodes,
        "hasCheckpoints": graph.checkpointer is not False,
        "hasOwnCheckpointer": not isinstance(graph.checkpointer, (bool, type(None))),
        "inputSchema": schema_of(graph, graph.get_input_jsonschema, "input_schema"),
    }


def schemas_of(graph):
    return {
        "input_schema": schema_of(graph, graph.get_input_jsonschema, "input_schema"),
        "output_schema": schema_of(graph, graph.get_output_jsonschema, "output_schema"),
        "state_schema": schema_of(graph, lambda: None, "state_schema"),
        "config_schema": attempt(graph.get_config_jsonschema),
        "context_schema": attempt(graph.get_context_jsonschema),
    }


def schema_of(graph, read, member):
    from pydantic import TypeAdapter

    found = attempt(read)
    kind = getattr(getattr(graph, "builder", None), member, None)
    return found or (attempt(lambda: TypeAdapter(to_described(kind)).json_schema()) if kind else None)


def to_described(kind):
    """Before Python 3.12 pydantic describes only the TypedDict of typing_extensions."""
    from typing_extensions import NotRequired, TypedDict, is_typeddict

    if not is_typeddict(kind):
        return kind
    required = kind.__required_keys__
    hints = {name: to_described(hint) for name, hint in typing.get_type_hints(kind).items()}
    return TypedDict(kind.__name__, {name: hint if name in required else NotRequired[hint] for name, hint in hints.items()})


def snapshot_of(state):
    return state and {
        "values": state.values,
        "next": state.next,
        "config": key_of(state.config),
        "metadata": state.metadata,
        "createdAt": state.created_at,
        "parentConfig": state.parent_config and key_of(state.parent_config),
        "tasks": [
            {
                "id": task.id,
                "name": task.name,
                "path": task.path,
                "error": None if task.error is None else repr(task.error),
                "interrupts": [interrupt_of(one) for one in task.interrupts],
                "state": snapshot_of(task.state) if hasattr(task.state, "values") and hasattr(task.state, "next") else (task.state and key_of(task.state)),
                "result": getattr(task, "result", None),
            }
            for task in state.tasks
        ],
    }


def interrupt_of(interrupt):
    schema = getattr(interrupt, "response_schema", None)
    return {"id": interrupt.id, "value": interrupt.value, **({} if schema is None else {"response_schema": schema})}


def key_of(config):
    names = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
    given = (config or {}).get("configurable") or {}
    return {"configurable": {name: given[name] for name in names if name in given}}


# ---- the checkpointer ----------------------------------------------------------------------------------------


def create_checkpointer(call):
    """`call` asks the server, which keeps the checkpoints of the caller's thread. Values are opaque to the server."""
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

    class ServerCheckpointer(BaseCheckpointSaver):
        def pack(self, value):
            kind, data = self.serde.dumps_typed(value)
            return {"kind": kind, "data": base64.b64encode(data).decode()}

        def unpack(self, packed):
            return self.serde.loads_typed((packed["kind"], base64.b64decode(packed["data"])))

        def to_tuple(self, found):
            return found and CheckpointTuple(
                config=found["config"],
                checkpoint=self.unpack(found["checkpoint"]),
                metadata=found["metadata"],
                parent_config=found.get("parentConfig"),
                pending_writes=[(task, channel, self.unpack(value)) for task, channel, value in found["pendingWrites"]],
            )

        async def aget_tuple(self, config):
            return self.to_tuple(await call("getTuple", key_of(config)))

        async def alist(self, config, *, filter=None, before=None, limit=None):
            options = {"filter": filter, "before": before and key_of(before), "limit": limit}
            given = {name: value for name, value in options.items() if value is not None}
            for found in await call("list", key_of(config), given):
                yield self.to_tuple(found)

        async def aput(self, config, checkpoint, metadata, new_versions):
            from langgraph.checkpoint.base import get_checkpoint_metadata

            await settle()
            names = ("v", "id", "channel_versions", "versions_seen")
            head = {name: checkpoint[name] for name in names}
            about = to_json(get_checkpoint_metadata(config, metadata))
            return await call("put", key_of(config), {**head, **self.pack(checkpoint)}, about)

        async def aput_writes(self, config, writes, task_id, task_path=""):
            await settle()
            packed = [[channel, self.pack(value)] for channel, value in writes]
            await call("putWrites", key_of(config), packed, task_id, task_path)

        async def adelete_thread(self, thread_id):
            await call("deleteThread", thread_id)

        def get_tuple(self, config):
            return wait_for(self.aget_tuple(config))

        def list(self, config, *, filter=None, before=None, limit=None):
            async def read():
                return [one async for one in self.alist(config, filter=filter, before=before, limit=limit)]

            yield from wait_for(read())

        def put(self, config, checkpoint, metadata, new_versions):
            return wait_for(self.aput(config, checkpoint, metadata, new_versions))

        def put_writes(self, config, writes, task_id, task_path=""):
            wait_for(self.aput_writes(config, writes, task_id, task_path))

        def delete_thread(self, thread_id):
            wait_for(self.adelete_thread(thread_id))

    return ServerCheckpointer()


def create_store(call):
    """`call` asks the server, which keeps the items of the caller."""
    from langgraph.store.base import BaseStore, GetOp, Item, PutOp, SearchItem, SearchOp

    def to_operation(op):
        if isinstance(op, GetOp):
            return {"namespace": op.namespace, "key": op.key}
        if isinstance(op, PutOp):
            value = None if op.value is None else to_json(op.value)
            options = {} if op.index is None else {"index": op.index}
            if op.ttl is not None:
                options["ttlMs"] = round(op.ttl * 60_000)
            return {"namespace": op.namespace, "key": op.key, "value": value, **options}
        if isinstance(op, SearchOp):
            options = {"filter": op.filter, "query": op.query, "limit": op.limit, "offset": op.offset}
            given = {name: value for name, value in options.items() if value is not None}
            return {"namespacePrefix": op.namespace_prefix, **given}
        conditions = [{"matchType": one.match_type, "path": one.path} for one in op.match_conditions or ()]
        depth = {} if op.max_depth is None else {"maxDepth": op.max_depth}
        return {"matchConditions": conditions, "limit": op.limit, "offset": op.offset, **depth}

    def to_item(kind, found):
        times = {member: found[name].replace("Z", "+00:00") for member, name in TIMES.items()}
        score = {"score": found.get("score")} if kind is SearchItem else {}
        return kind(namespace=tuple(found["namespace"]), key=found["key"], value=found["value"], **times, **score)

    def to_result(op, found):
        if isinstance(op, GetOp):
            return found and to_item(Item, found)
        if isinstance(op, SearchOp):
            return [to_item(SearchItem, one) for one in found]
        return None if isinstance(op, PutOp) else [tuple(one) for one in found]

    class ServerStore(BaseStore):
        supports_ttl = True

        async def abatch(self, ops):
            ops = list(ops)
            found = await call("storeBatch", [to_operation(op) for op in ops])
            return [to_result(op, one) for op, one in zip(ops, found)]

        def batch(self, ops):
            return wait_for(self.abatch(ops))

    return ServerStore()


TIMES = {"created_at": "createdAt", "updated_at": "updatedAt"}


async def settle():
    """The last output of a node may still be in the queue of the stream: it is written before the checkpoint."""
    for _ in range(10):
        await asyncio.sleep(0)


def wait_for(coroutine):
    """For nodes that call a graph without `await`, in a thread of their own."""
    with contextlib.suppress(RuntimeError):
        if asyncio.get_running_loop() is worker.loop:
            coroutine.close()
            raise TypeError("An async node must call a graph with await: graph.ainvoke or graph.astream")
    return asyncio.run_coroutine_threadsafe(coroutine, worker.loop).result()


# ---- requests ------------------------------------------------------------------------------------------------


def create_usage_handler(report):
    from langchain_core.callbacks import AsyncCallbackHandler

    class UsageHandler(AsyncCallbackHandler):
        async def on_llm_end(self, response, **_):
            with contextlib.suppress(AttributeError, IndexError, TypeError):
                usage = response.generations[0][0].message.usage_metadata
                if usage:
                    report(dict(usage))

    return UsageHandler()


def to_input(request):
    command = request.get("command")
    if command is None:
        return request.get("input")
    from langgraph.types import Command, Send

    def to_goto(value):
        return Send(value["node"], value.get("input", value.get("args"))) if isinstance(value, dict) else value

    goto = command.get("goto") or ()
    goto = [to_goto(one) for one in goto] if isinstance(goto, (list, tuple)) else to_goto(goto)
    given = {name: command[name] for name in ("resume", "update") if command.get(name) is not None}
    return Command(**given, goto=goto)


class Request:
    """One request of the server: a run, or a question about a graph or its state."""

    def __init__(self, worker, request):
        self.worker = worker
        self.request = request
        self.id = request["id"]
        self.config = {**(request.get("config") or {})}
        self.config["configurable"] = {**(self.config.get("configurable") or {})}
        if isinstance(self.config.get("run_id"), str):
            self.config["run_id"] = uuid.UUID(self.config["run_id"])

    async def run(self):
        try:
            value = await getattr(self, "do_" + self.request["type"])()
            self.write("result", value=value)
        except asyncio.CancelledError:
            self.write("error", error={"name": "CancelledError", "message": "canceled", "traceback": ""})
        except BaseException as error:
            self.write("error", error=to_error(error))
        finally:
            self.worker.tasks.pop(self.id, None)

    def write(self, kind, **members):
        write({"type": kind, "id": self.id, **members})

    async def call(self, method, *arguments):
        number, answer = self.worker.expect_answer()
        self.write("call", call=number, method=method, arguments=arguments)
        return await answer

    @contextlib.asynccontextmanager
    async def open(self):
        async with self.worker.source.open(self.config) as graph:
            # The graph is shared by all requests: a checkpointer and a store belong to one caller.
            update = {}
            if graph.checkpointer is not False:
                has_checkpointer = self.request.get("hasCheckpointer")
                update["checkpointer"] = create_checkpointer(self.call) if has_checkpointer else None
            if graph.store is None and self.request.get("hasStore"):
                update["store"] = create_store(self.call)
            yield graph.copy(update=update)

    def options(self, graph):
        options = {name: value for name, value in self.request.get("options", {}).items() if value is not None}
        if not graph.checkpointer:
            # LangGraph fails if there is nothing to make durable.
            options.pop("durability", None)
        if self.request.get("outputOnly"):
            # As LangGraph's server does: callers see the values of the output schema.
            options["output_keys"] = graph.output_channels
        return options

    def run_config(self):
        return {**self.config, "callbacks": [create_usage_handler(lambda usage: self.write("usage", usage=usage))]}

    async def do_stream(self):
        async with self.open() as graph:
            options = self.options(graph)
            async for chunk in graph.astream(to_input(self.request), self.run_config(), **options):
                self.write("chunk", chunk=chunk if options.get("subgraphs") else [(), *chunk])
            await self.report_breakpoint(graph, options, lambda chunk: chunk)

    async def report_breakpoint(self, graph, options, wrap):
        """In Python the stream of values does not tell that the graph stopped at a breakpoint."""
        nodes = [graph.interrupt_before_nodes, graph.interrupt_after_nodes]
        nodes += [options.get("interrupt_before"), options.get("interrupt_after")]
        if graph.checkpointer and any(nodes) and "values" in options.get("stream_mode", ()):
            state = await graph.aget_state(self.config)
            if state.next and not any(task.interrupts for task in state.tasks):
                self.write("chunk", chunk=wrap([(), "values", {"__interrupt__": []}]))

    async def do_events(self):
        root = {"event": "on_chain_stream", "run_id": str(self.config.get("run_id"))}
        async with self.open() as graph:
            options = self.options(graph)
            events = graph.astream_events(to_input(self.request), self.run_config(), version="v2", **options)
            async for event in events:
                self.write("chunk", chunk=event)
            await self.report_breakpoint(graph, options, lambda chunk: {**root, "data": {"chunk": chunk}})

    async def do_state(self):
        async with self.open() as graph:
            return snapshot_of(await graph.aget_state(self.config, subgraphs=self.request.get("subgraphs", False)))

    async def do_history(self):
        options = {name: value for name, value in self.request.get("options", {}).items() if value is not None}
        async with self.open() as graph:
            async for state in graph.aget_state_history(self.config, **options):
                self.write("chunk", chunk=snapshot_of(state))

    async def do_update(self):
        from langgraph.types import StateUpdate

        supersteps = [
            [StateUpdate(to_input({"input": one.get("values"), "command": one.get("command")}), one.get("asNode")) for one in step]
            for step in self.request["supersteps"]
        ]
        async with self.open() as graph:
            return key_of(await graph.abulk_update_state(self.config, supersteps))

    async def do_facts(self):
        async with self.worker.source.open(self.config) as graph:
            return facts_of(graph)

    async def do_schemas(self):
        async with self.worker.source.open(self.config) as graph:
            return schemas_of(graph)

    async def do_graph(self):
        async with self.worker.source.open(self.config) as graph:
            return (await graph.aget_graph(self.config, xray=self.request.get("xray", False))).to_json()

    async def do_subgraphs(self):
        options = {"namespace": self.request.get("namespace"), "recurse": self.request.get("recurse", False)}
        async with self.worker.source.open(self.config) as graph:
            return {name: schemas_of(inner) async for name, inner in graph.aget_subgraphs(**options)}


class Worker:
    def __init__(self):
        self.loop = None
        self.source = None
        self.tasks = {}
        self.answers = {}
        self.count = 0

    def expect_answer(self):
        self.count += 1
        answer = self.loop.create_future()
        self.answers[self.count] = answer
        return self.count, answer

    def receive(self, line):
        kind = line["type"]
        if kind == "answer":
            answer = self.answers.pop(line["call"], None)
            if answer is None or answer.done():
                return
            if "error" in line:
                answer.set_exception(RuntimeError(line["error"]))
            else:
                answer.set_result(line.get("value"))
        elif kind == "cancel":
            if task := self.tasks.get(line["id"]):
                task.cancel()
        else:
            self.tasks[line["id"]] = self.loop.create_task(Request(self, line).run())

    def read(self):
        for line in sys.stdin.buffer:
            self.loop.call_soon_threadsafe(self.receive, json.loads(line))
        # The server has ended, or needs this process no longer.
        self.loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self.close()))

    async def close(self):
        tasks = list(self.tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1)
        os._exit(0)

    async def main(self, target, name):
        self.loop = asyncio.get_running_loop()
        try:
            import langgraph.checkpoint.base
            import langgraph.types
        except ModuleNotFoundError as error:
            return write({"type": "failed", "missing": "langgraph", "error": to_error(error)})
        try:
            self.source = Source(load(target, name))
        except BaseException as error:
            return write({"type": "failed", "error": to_error(error)})
        facts = {} if self.source.is_factory else facts_of(self.source.value)
        write({"type": "ready", "facts": facts, "files": user_files()})
        threading.Thread(target=self.read, daemon=True).start()
        await asyncio.Event().wait()


def user_files():
    """The files that the graph was loaded from, without those of packages."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return sorted({file for file in files if isinstance(file, str) and is_user_file(file)})


if __name__ == "__main__":
    worker = Worker()
    _bytes_max = int(sys.argv[3])
    asyncio.run(worker.main(sys.argv[1], sys.argv[2]))
