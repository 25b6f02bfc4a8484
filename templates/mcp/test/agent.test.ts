import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import config from "../dragoman.config.ts";
import { send } from "./send.ts";

const server = await createHandler({ ...config, data: ":memory:" });
after(() => server.close());

test("it uses a tool of the MCP server", async () => {
  match((await send(server, "planner", "2999-12-31")).text, /^\d+ days until 2999-12-31$/);
});

test("an error of the tool fails the task", async () => {
  const { state, statusText } = await send(server, "planner", "someday");
  equal(state, "TASK_STATE_FAILED");
  equal(statusText, "someday is no day");
});
