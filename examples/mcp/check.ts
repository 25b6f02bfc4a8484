import { equal, match } from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { serve } from "../_serve.ts";

const server = await serve(new URL("dragoman.config.ts", import.meta.url));
const client = new Client({ name: "check", version: "1.0.0" });
try {
  match((await server.send("planner", "2999-12-31")).text, /^\d+ days until 2999-12-31$/);
  equal((await server.send("planner", "someday")).statusText, "someday is no day");
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
  const { tools } = await client.listTools();
  equal(tools[0]?.name, "planner");
  const result = await client.callTool({ name: "planner", arguments: { message: "2999-12-31" } });
  match(JSON.stringify(result.content), /days until 2999-12-31/);
} finally {
  await client.close();
  await server.stop();
}
process.stdout.write("ok\n");
