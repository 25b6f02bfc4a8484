import { after, test } from "node:test";
import { assertTask, createTestServer, fakeOpenAi } from "dragoman/testing";
import config from "../dragoman.config.ts";

/** In place of a model: repeats the last message. */
const model = fakeOpenAi(({ text }) => `You said: ${text}`);
const server = await createTestServer(config, { outbound: model.fetch });
after(() => server.close());

test("it passes the message to the model, and the response to the caller", async () => {
  assertTask(await server.send("hello")).toComplete("You said: hello");
});
