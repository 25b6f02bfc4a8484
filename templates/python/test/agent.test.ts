import { after, test } from "node:test";
import { assertTask, createTestServer } from "dragoman/testing";
import config from "../dragoman.config.ts";

const server = await createTestServer(config);
after(() => server.close());

test("it counts letters", async () => {
  assertTask(await server.send("to count")).toComplete("to has 2 letters. count has 5 letters. ");
});

test("it asks for a sentence", async () => {
  const asked = await server.send("hello");
  assertTask(asked).toAsk("Give me a sentence, please");
  assertTask(await asked.answer("hello you")).toComplete("hello has 5 letters. you has 3 letters. ");
});
