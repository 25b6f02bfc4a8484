import type { ApiDescription } from "../openapi/description.ts";

/** The messages are those of AG-UI 1.0. */
export const AG_UI_API: ApiDescription = {
  title: "AG-UI 1.0",
  summaries: {
    run: "Run an agent on a RunAgentInput, as a stream of AG-UI events",
    connect: "Resume the events of the run of a thread, if there is one",
    cancel: "Cancel the run of a thread",
  },
};
