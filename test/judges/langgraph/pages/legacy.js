/** A chat with the hook `useStream` of @langchain/langgraph-sdk, as agent-chat-ui uses it. */
import { useStream } from "@langchain/langgraph-sdk/react";
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);

function Chat() {
  const [threadId, setThreadId] = useState(query.get("thread"));
  const stream = useStream({
    apiUrl: query.get("api"),
    assistantId: query.get("assistant"),
    threadId,
    onThreadId: id => {
      setThreadId(id);
      history.replaceState(null, "", `?${new URLSearchParams({ ...Object.fromEntries(query), thread: id })}`);
    },
    messagesKey: "messages",
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  const options = {
    streamMode: ["values", "messages-tuple", "custom"],
    streamSubgraphs: true,
    streamResumable: true,
  };
  const say = content => stream.submit({ messages: [{ type: "human", content }] }, options);
  const edit = content => {
    const first = stream.messages[0];
    const checkpoint = stream.getMessagesMetadata(first)?.firstSeenState?.parent_checkpoint;
    stream.submit({ messages: [{ type: "human", content }] }, { ...options, checkpoint });
  };
  const branches = stream.messages.map(one => stream.getMessagesMetadata(one)?.branchOptions?.length ?? 1);
  return h(
    "main",
    { "data-loading": String(stream.isLoading), "data-branches": String(Math.max(1, ...branches)) },
    h(
      "ol",
      null,
      ...stream.messages.map(one => h("li", { key: one.id, "data-type": one.type }, String(one.content))),
    ),
    h("output", { id: "interrupt" }, stream.interrupt ? JSON.stringify(stream.interrupt.value) : ""),
    h("output", { id: "error" }, stream.error ? String(stream.error) : ""),
    h("input", { id: "text" }),
    h("button", { type: "button", onClick: () => say(document.getElementById("text").value) }, "Send"),
    h("button", { type: "button", onClick: () => edit(document.getElementById("text").value) }, "Edit"),
    h(
      "button",
      { type: "button", onClick: () => stream.submit(undefined, { ...options, command: { resume: "yes" } }) },
      "Resume",
    ),
    h("button", { type: "button", onClick: () => stream.stop() }, "Stop"),
  );
}

createRoot(document.getElementById("root")).render(h(Chat));
