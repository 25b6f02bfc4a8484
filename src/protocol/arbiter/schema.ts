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
      },
      schema: {
        rpcs: { cancel: "CancelRequest: Canceled", events: "EventsRequest: stream Struct" },
        enums: {},
        messages: {
          CancelRequest: { id: "string!: The id of the request, which is a task" },
          EventsRequest: {
            id: "string!: The id of the request, which is a task",
            since_seq: "count: The sequence number of the last event that the caller has",
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
