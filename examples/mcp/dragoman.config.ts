import { fileURLToPath } from "node:url";
import { defineConfig } from "dragoman";

/** Tools of an MCP server for our agent, and our agent as a tool for MCP clients, at /mcp. */
export default defineConfig({
  agents: ["agent.ts"],
  mcp: true,
  mcpServers: {
    clock: { command: process.execPath, args: [fileURLToPath(new URL("_clock.ts", import.meta.url))] },
  },
});
