import { after, test } from "node:test";
import { assertTask, createTestServer } from "dragoman/testing";
import config from "../dragoman.config.ts";

const server = await createTestServer(config);
after(() => server.close());

test("the graph plans, asks the caller, and books", async () => {
  const asked = await server.send("A weekend in Lisbon, please");
  assertTask(asked).toAsk("Shall I book this?");
  assertTask(await asked.answer("yes")).toComplete(/It is booked\.$/);
});

test("the plan survives a crash", async () => {
  const asked = await server.send("A day in Porto, please");
  await server.crash();
  assertTask(await asked.answer("no")).toComplete(/Nothing was booked\.$/);
});
