/** Programs as agents, with real processes: no process is left behind, and no step is repeated. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { isRunning } from "../support/pids.ts";
import { tempFolder } from "../support/server.ts";
import { stateOf, taskOf, textOf } from "../support/wire.ts";

const SCRIPT = new URL("../support/programs/script.mjs", import.meta.url).pathname;

let folder: ReturnType<typeof tempFolder>;
let server: Child;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

/** A server with one agent that executes its message, which is JavaScript. */
async function start(options: object = {}): Promise<void> {
  const agent = { runtime: "process", name: "script", command: [process.execPath, SCRIPT], ...options };
  const config = join(folder.path, "dragoman.config.ts");
  writeFileSync(config, `export default { agents: [${JSON.stringify(agent)}] };\n`);
  const flags = [
    "--durability",
    "process",
    "--log-level",
    "warn",
    "--drain-ms",
    "0",
    "--cancel-grace-ms",
    "1000",
  ];
  server = await startChild({
    agents: [config],
    data: join(folder.path, "data"),
    port: server?.port ?? 0,
    flags,
  });
}

const send = async (script: string, message: object = {}): Promise<object> =>
  (await rpc(server.url, "SendMessage", sendParams(script, message))).body;
async function begin(script: string): Promise<string> {
  const atOnce = { configuration: { returnImmediately: true } };
  return taskOf((await rpc(server.url, "SendMessage", { ...sendParams(script), ...atOnce })).body).id;
}
const get = async (id: string): Promise<object> => (await rpc(server.url, "GetTask", { id })).body;
const trail = (): readonly string[] => {
  const file = join(folder.path, "trail");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const TOOLS = `
  const { appendFileSync, existsSync } = await import("node:fs");
  const mark = line => appendFileSync("trail", line + "\\n");
  const gate = async name => { while (!existsSync(name)) await sleep(5); };`;
const open = (gate: string): void => writeFileSync(join(folder.path, gate), "");
const isPid = /^\d+$/;

describe("when the server ends, its programs end", () => {
  const idle = `text(String(process.pid)); say("done")`;
  const busy = `process.on("SIGTERM", () => {}); text(String(process.pid)); await sleep(2 ** 30)`;

  test("gracefully: those that run, those that wait, and those that ignore the signal", async () => {
    await start({ pool: 2, graceMs: 200 });
    const id = await begin(busy);
    await until(async () => isPid.test(textOf(await get(id))));
    const pids = [Number(textOf(await get(id))), Number(textOf(await send(idle)))];
    expect(pids.filter(isRunning)).toHaveLength(2);
    expect((await server.stop()).code).toBe(0);
    await until(() => !pids.some(isRunning));
  });

  test("by a kill: they notice the closed pipe", async () => {
    await start({ pool: 1 });
    const pid = Number(textOf(await send(idle)));
    expect(isRunning(pid)).toBe(true);
    await server.kill();
    await until(() => !isRunning(pid));
  });
});

test("a finished step is not repeated after a kill, and no output is repeated", async () => {
  await start();
  const id = await begin(`${TOOLS}
    text("Paying. ");
    const paid = await step("pay", () => { mark("paid"); return 7; });
    text("Paid " + paid + ". ");
    await step("send", async () => { mark("sending"); await gate("open"); return null; });
    text("Sent."); say("done");`);
  await until(() => trail().at(-1) === "sending");
  await until(async () => textOf(await get(id)) === "Paying. Paid 7. ");
  await server.kill();
  await start();
  await until(() => trail().length === 3);
  open("open");
  await until(async () => stateOf(await get(id)) === "completed");
  expect(textOf(await get(id))).toBe("Paying. Paid 7. Sent.");
  expect(trail()).toEqual(["paid", "sending", "sending"]);
});

test("a program that writes faster than its output is recorded is held back, and nothing is lost", async () => {
  await start();
  const body = await send(`for (let i = 0; i < 30_000; i++) text(i + " "); say("done")`);
  const whole = Array.from({ length: 30_000 }, (_, i) => `${i} `).join("");
  expect(textOf(body) === whole).toBe(true);
});

test("a program that crashes fails one task and no other", async () => {
  await start({ pool: 1 });
  const [broken, other] = await Promise.all([send("nonsense("), send(`text("fine"); say("done")`)]);
  expect([stateOf(broken), stateOf(other), textOf(other)]).toEqual(["failed", "completed", "fine"]);
  await until(() => server.stderr().includes("SyntaxError"));
});
