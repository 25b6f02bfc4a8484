/** An MCP server on standard streams, as a separate program. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

await serveStdio(() => {
  const server = new McpServer({ name: "sums", version: "1.0.0" });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  server.registerTool("add", { description: "Adds two numbers", inputSchema }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b, pid: process.pid },
  }));
  server.registerTool("fail", { description: "Does not do it" }, () => ({
    content: [{ type: "text", text: "I cannot" }],
    isError: true,
  }));
  server.registerTool("crash", { description: "Ends the program" }, () => process.exit(1));
  server.registerTool(
    "wait",
    { description: "Waits to be told to stop" },
    ctx =>
      new Promise((_resolve, reject) => {
        process.stderr.write("waiting\n");
        ctx.mcpReq.signal.addEventListener("abort", () => {
          process.stderr.write("told to stop\n");
          reject(new Error("stopped"));
        });
      }),
  );
  return server;
});
