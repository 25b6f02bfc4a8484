import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "../_serve.ts";

/** Responds with the number of messages and their roles. */
const endpoint = createServer(async (request: IncomingMessage, response) => {
  const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const roles = messages.map((message: { role: string }) => message.role).join(", ");
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const content of [`${messages.length} messages: `, roles])
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  response.write(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\n`);
  response.end("data: [DONE]\n\n");
});
endpoint.listen(0, "127.0.0.1");
await once(endpoint, "listening");
const { port } = endpoint.address() as AddressInfo;

const url = `http://127.0.0.1:${port}/v1`;
const server = await serve(new URL("dragoman.config.ts", import.meta.url), { OPENAI_BASE_URL: url });
try {
  const { state, text } = await server.send("chat", "hello");
  deepEqual([state, text], ["TASK_STATE_COMPLETED", "2 messages: system, user"]);
} finally {
  await server.stop();
  endpoint.close();
}
equal(endpoint.listening, false);
process.stdout.write("ok\n");
