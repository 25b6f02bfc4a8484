import type { ClientDialect } from "../../client/client-protocol.ts";
import { v03, writeV03Send } from "../a2a-v03/client.ts";

/** A task is found by its id and its context id; `configuration` and request metadata are unknown. */
export const langgraph: ClientDialect = {
  ...v03,
  version: undefined,
  title: "LangGraph Agent Server",
  writeSend: ({ callMetadata: _, thread: __, ...draft }) => {
    const { configuration: ___, ...params } = writeV03Send(draft);
    return params;
  },
  writeTask: ({ taskId, contextId }) =>
    contextId === undefined ? { id: taskId } : { id: taskId, contextId },
};
