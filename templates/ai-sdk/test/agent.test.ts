import { after, test } from "node:test";
import { assertTask, createTestServer } from "dragoman/testing";
import travel from "../agents/travel.ts";

const server = await createTestServer(travel);
after(() => server.close());

test("it calls its tools", async () => {
  assertTask(await server.send("How is the weather in Oslo?")).toComplete(/It is sunny in Oslo\.$/);
});

test("it asks before it books", async () => {
  const asked = await server.send("Book Rome");
  assertTask(asked).toAsk();
  assertTask(await asked.answer("yes")).toComplete(/Booked: Rome\.$/);
});

test("it continues after a crash", async () => {
  // The results of finished steps are recorded; the second one is lost with the server, and repeated.
  const crashed = server.crashAt("step", { nth: 2 });
  const task = await server.send("How is the weather in Lima?");
  await crashed;
  assertTask(task).toComplete(/It is sunny in Lima\.$/);
  assertTask(task).toHaveAttempts(2);
});
