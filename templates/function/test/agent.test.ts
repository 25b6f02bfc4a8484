import { after, test } from "node:test";
import { assertTask, createTestServer } from "dragoman/testing";
import hello from "../agents/hello.ts";

const server = await createTestServer(hello);
after(() => server.close());

test("it greets", async () => {
  assertTask(await server.send("Ada")).toComplete("Hello, Ada!");
});

test("it asks for a name", async () => {
  const asked = await server.send(" ");
  assertTask(asked).toAsk("What is your name?");
  assertTask(await asked.answer("Grace")).toComplete("Hello, Grace!");
});
