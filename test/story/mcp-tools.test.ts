import { afterEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { ServerOptions } from "../../src/index.ts";
import { loadOptionalPackage } from "../../src/lib/optional-package.ts";
import { createTestServer, type TestServer as MemoryServer } from "../../src/testing/index.ts";
import { until } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** `ctx.mcp`: tools of configured MCP servers, for agents. */

let there: TestServer | undefined;
let here: MemoryServer;
afterEach(async () => {
  await here.close();
  await there?.stop();
  there = undefined;
});

const SUMS = {
  command: process.execPath,
  args: [new URL("../support/mcp-stdio.ts", import.meta.url).pathname],
};

async function start(
  run: AgentDefinition["run"],
  more: Pick<ServerOptions, "mcpServers"> = {},
): Promise<void> {
  here = await createTestServer({ agents: [{ name: "user", run }], mcpServers: { sums: SUMS }, ...more });
}
const ask = async (text = "go"): Promise<string> => (await here.send(text)).text;
const hasLogged = (text: string): boolean => here.log.some(line => line.text.includes(text));
const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    value => JSON.stringify(value),
    error => (error as Error).message,
  );

it("tools of a program are listed and called, and the program is shared by all runs", async () => {
  const pids = new Set<unknown>();
  await start(async (_task, ctx) => {
    const sums = await ctx.mcp("sums");
    const tools = await sums.listTools();
    const { text, data, isError } = await sums.callTool("add", { a: 2, b: 3 });
    pids.add((data as { pid: number }).pid);
    return `${tools.map(tool => tool.name).join(" ")}: ${text} ${isError}`;
  });
  expect(await ask()).toBe("add fail crash wait: 5 false");
  await Promise.all([ask(), ask()]);
  expect(pids.size).toBe(1);
});

it("a failed tool call returns its error; a program that has exited is started again", async () => {
  await start(async (_task, ctx) => {
    const { isError, text } = await (await ctx.mcp("sums")).callTool("fail");
    const crash = await (await ctx.mcp("sums")).callTool("crash").catch(() => "it ended");
    await until(() =>
      ctx
        .mcp("sums")
        .then(sums => sums.listTools())
        .then(
          () => true,
          () => false,
        ),
    );
    const again = await (await ctx.mcp("sums")).callTool("add", { a: 1, b: 1 });
    return `${isError} ${text}, ${crash}, ${again.text}`;
  });
  expect(await ask()).toBe("true I cannot, it ended, 2");
});

it("a cancel is passed on to the tool", async () => {
  await start(async (_task, ctx) => void (await (await ctx.mcp("sums")).callTool("wait")));
  const task = await here.start("go");
  await until(() => hasLogged("waiting"));
  await task.cancel();
  await until(() => hasLogged("told to stop"));
});

it("tools of a remote server are called at its URL: agents of this server, for example", async () => {
  there = await serve([{ name: "echo", run: (task, ctx) => ctx.text(`echo ${task.text}`) }], { mcp: true });
  const mcpServers = { agents: { url: `${there.url}/mcp` } };
  await start(
    async (_task, ctx) => (await (await ctx.mcp("agents")).callTool("echo", { message: "hi" })).text,
    {
      mcpServers,
    },
  );
  expect(await ask()).toBe("echo hi");
});

it("an unknown or unreachable server throws an error to the agent", async () => {
  const mcpServers = { gone: { command: "/nowhere/program" }, away: { url: "http://127.0.0.1:9/mcp" } };
  await start(async (task, ctx) => errorOf(ctx.mcp(task.text)), { mcpServers });
  expect(await ask("nobody")).toBe('Unknown MCP server "nobody"; the option mcpServers has: gone, away');
  expect(await ask("gone")).toMatch(/ENOENT|Connection closed/);
});

it("a missing package is reported with the command that installs it", async () => {
  const missing = () => import("@modelcontextprotocol/nowhere" as string);
  await expect(loadOptionalPackage("@modelcontextprotocol/client", "ctx.mcp", missing)).rejects.toThrow(
    "ctx.mcp needs the package @modelcontextprotocol/client, which is not installed: npm install @modelcontextprotocol/client",
  );
});
