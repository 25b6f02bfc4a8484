import { equal } from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createHandler } from "dragoman";
import { send } from "./send.ts";

/** In place of a model: repeats the last message. */
const model = createServer(async (request, response) => {
  const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const content = `You said: ${messages.at(-1).content}`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  response.write(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\n`);
  response.end("data: [DONE]\n\n");
});
model.listen(0, "127.0.0.1");
await once(model, "listening");
process.env.OPENAI_BASE_URL = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;

const { default: config } = await import("../dragoman.config.ts");
const server = await createHandler({ ...config, data: ":memory:" });
after(async () => {
  await server.close();
  model.close();
});

test("it passes the message to the model, and the response to the caller", async () => {
  const { state, text } = await send(server, "chat", "hello");
  equal(state, "TASK_STATE_COMPLETED");
  equal(text, "You said: hello");
});
