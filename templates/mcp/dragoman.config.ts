import { fileURLToPath } from "node:url";
import { defineConfig } from "dragoman";

/** The agent uses the tools of an MCP server, and is itself a tool for MCP clients, at /mcp. */
export default defineConfig({
  agents: ["agents"],
  mcp: true,
  mcpServers: {
    clock: { command: process.execPath, args: [fileURLToPath(new URL("clock.ts", import.meta.url))] },
  },
});
