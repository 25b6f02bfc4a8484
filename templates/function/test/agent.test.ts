import { equal } from "node:assert/strict";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import config from "../dragoman.config.ts";
import { send } from "./send.ts";

const server = await createHandler({ ...config, data: ":memory:" });
after(() => server.close());

test("it greets", async () => {
  const { state, text } = await send(server, "hello", "Ada");
  equal(state, "TASK_STATE_COMPLETED");
  equal(text, "Hello, Ada!");
});

test("it asks for a name", async () => {
  const asked = await send(server, "hello", " ");
  equal(asked.statusText, "What is your name?");
  equal((await send(server, "hello", "Grace", asked.taskId)).text, "Hello, Grace!");
});
