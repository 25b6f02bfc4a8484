import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import config from "../dragoman.config.ts";
import { send } from "./send.ts";

const server = await createHandler({ ...config, data: ":memory:" });
after(() => server.close());

test("it calls its tools", async () => {
  match((await send(server, "travel", "How is the weather in Oslo?")).text, /It is sunny in Oslo\.$/);
});

test("it asks before it books", async () => {
  const asked = await send(server, "travel", "Book Rome");
  equal(asked.state, "TASK_STATE_INPUT_REQUIRED");
  match((await send(server, "travel", "yes", asked.taskId)).text, /Booked: Rome\.$/);
});
