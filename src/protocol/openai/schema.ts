import type { ApiDescription } from "../openapi/description.ts";

/** The messages are those of OpenAI's own reference. */
export const OPENAI_API: ApiDescription = {
  title: "OpenAI API",
  summaries: {
    "models.list": "List the agents as models",
    "models.retrieve": "Get an agent as a model",
    "chat.completions.create": "Create a chat completion, or stream its chunks",
    "responses.create": "Create a response, or stream its events",
    "responses.retrieve": "Get a response, or stream its events after starting_after",
    "responses.cancel": "Cancel a response",
    "responses.input_items.list": "List the message that a response answers",
  },
};
