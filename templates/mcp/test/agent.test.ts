import { after, test } from "node:test";
import { assertTask, createTestServer } from "dragoman/testing";
import config from "../dragoman.config.ts";

const server = await createTestServer(config);
after(() => server.close());

test("it uses a tool of the MCP server", async () => {
  assertTask(await server.send("2999-12-31")).toComplete(/^\d+ days until 2999-12-31$/);
});

test("an error of the tool fails the task", async () => {
  assertTask(await server.send("someday")).toFail("someday is no day");
});

test("after a crash the tool is not called again if its result was recorded", async () => {
  const crashed = server.crashAt("count", { when: "after" });
  const task = await server.send("2999-12-31");
  await crashed;
  assertTask(task).toComplete(/^\d+ days/);
  assertTask(task).toHaveSteps(["count"]);
});
