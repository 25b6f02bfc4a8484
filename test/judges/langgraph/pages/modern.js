/** A chat with the hook `useStream` of @langchain/react, which speaks streaming protocol v2. */
import { useMessageMetadata, useStream } from "@langchain/react";
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);

function Chat() {
  const [threadId, setThreadId] = useState(query.get("thread"));
  const stream = useStream({
    apiUrl: query.get("api"),
    assistantId: query.get("assistant"),
    transport: query.get("transport") ?? undefined,
    threadId,
    onThreadId: id => {
      setThreadId(id);
      history.replaceState(null, "", `?${new URLSearchParams({ ...Object.fromEntries(query), thread: id })}`);
    },
  });
  const forkFrom = useMessageMetadata(stream, stream.messages[0]?.id)?.parentCheckpointId;
  const edit = content => stream.submit({ messages: [{ type: "human", content }] }, { forkFrom });
  return h(
    "main",
    { "data-loading": String(stream.isLoading) },
    h(
      "ol",
      null,
      ...stream.messages.map((one, i) =>
        h("li", { key: one.id ?? i, "data-type": one.type ?? one.getType?.() }, one.text),
      ),
    ),
    h("output", { id: "interrupt" }, stream.interrupts.map(one => JSON.stringify(one.value)).join(";")),
    h("output", { id: "values" }, JSON.stringify(stream.values)),
    h(
      "output",
      { id: "tools" },
      JSON.stringify(stream.toolCalls.map(one => [one.name, one.args ?? one.input])),
    ),
    h("output", { id: "error" }, stream.error ? String(stream.error) : ""),
    h("input", { id: "text" }),
    h(
      "button",
      {
        type: "button",
        onClick: () =>
          stream.submit({ messages: [{ type: "human", content: document.getElementById("text").value }] }),
      },
      "Send",
    ),
    h(
      "button",
      { type: "button", disabled: !forkFrom, onClick: () => edit(document.getElementById("text").value) },
      "Edit",
    ),
    h("button", { type: "button", onClick: () => stream.submit({ trail: [] }) }, "Start"),
    h("button", { type: "button", onClick: () => stream.respond("yes") }, "Resume"),
    h(
      "button",
      {
        type: "button",
        onClick: () =>
          stream.respondAll(Object.fromEntries(stream.interrupts.map(one => [one.id, one.value]))),
      },
      "Answer all",
    ),
    h("button", { type: "button", onClick: () => stream.stop() }, "Stop"),
  );
}

createRoot(document.getElementById("root")).render(h(Chat));
