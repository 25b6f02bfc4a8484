import type { ApiDescription } from "../openapi/description.ts";

/** The paths beside JSON-RPC, whose messages the vendor documents. */
export const ARBITER_API: ApiDescription = {
  title: "Arbiter",
  rest: [
    {
      prefix: "Arbiter",
      summaries: {
        cancel: "Cancel a request",
        events: "Stream the events of a request, from its beginning or after since_seq",
        orchestrate: "Begin a request and stream its events",
        chat: "Begin a request for the agent of the path and stream its events",
        agents: "List the agents that the caller can see; the first one is index, the default agent",
        agent: "Describe one agent",
      },
      schema: {
        rpcs: {
          cancel: "CancelRequest: Canceled",
          events: "EventsRequest: stream Struct",
          orchestrate: "OrchestrateRequest: stream Struct",
          chat: "ChatRequest: stream Struct",
          agents: "AgentsRequest: Agents",
          agent: "AgentRequest: Agent",
        },
        enums: {},
        messages: {
          CancelRequest: { id: "string!: The id of the request, which is a task" },
          EventsRequest: {
            id: "string!: The id of the request, which is a task",
            since_seq: "count: The sequence number of the last event that the caller has",
          },
          OrchestrateRequest: {
            message: "Value!: A text, or an array of parts with text and images",
            agent: "string: The name of an agent; index, the default agent, if it is absent",
          },
          ChatRequest: { message: "Value!: A text, or an array of parts with text and images" },
          AgentsRequest: {},
          AgentRequest: {},
          Agents: { count: "count!", agents: "Agent[]!" },
          Agent: {
            id: "string!",
            name: "string!",
            role: "string!",
            goal: "string!",
            rules: "string[]!",
            capabilities: "string[]!: The ids of its skills",
          },
          Canceled: { request_id: "string!", cancelled: "bool!", reason: "string" },
          Error: { error: "string!" },
          Refusal: "Error | Canceled",
        },
      },
    },
  ],
  error: "Refusal",
};
