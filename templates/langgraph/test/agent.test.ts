import { equal } from "node:assert/strict";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import config from "../dragoman.config.ts";
import { send } from "./send.ts";

const server = await createHandler({ ...config, data: ":memory:" });
after(() => server.close());

test("the graph plans, asks the caller, and books", async () => {
  const asked = await send(server, "planner", "A weekend in Lisbon, please");
  equal(asked.state, "TASK_STATE_INPUT_REQUIRED");
  equal(asked.statusText, "Shall I book this?");
  const booked = await send(server, "planner", "yes", asked.taskId);
  equal(booked.state, "TASK_STATE_COMPLETED");
  equal(booked.text.endsWith("It is booked."), true);
});
