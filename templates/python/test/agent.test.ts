import { equal } from "node:assert/strict";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import config from "../dragoman.config.ts";
import { send } from "./send.ts";

const server = await createHandler({ ...config, data: ":memory:" });
after(() => server.close());

test("it counts letters", async () => {
  equal((await send(server, "letters", "to count")).text, "to has 2 letters. count has 5 letters. ");
});

test("it asks for a sentence", async () => {
  const asked = await send(server, "letters", "hello");
  equal(asked.statusText, "Give me a sentence, please");
  equal(
    (await send(server, "letters", "hello you", asked.taskId)).text,
    "hello has 5 letters. you has 3 letters. ",
  );
});
