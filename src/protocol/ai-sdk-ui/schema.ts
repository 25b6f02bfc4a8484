import type { ApiDescription } from "../openapi/description.ts";

/** The messages are those of the AI SDK's UI message stream protocol. */
export const AI_SDK_UI_API: ApiDescription = {
  title: "AI SDK UI",
  summaries: {
    sendMessages: "Answer the last message of a chat, as a stream of UI message parts",
    reconnectToStream: "Resume the stream of a chat, if an answer is being written",
    stop: "Cancel the answer that is being written in a chat",
  },
};
