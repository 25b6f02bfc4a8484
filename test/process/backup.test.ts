import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyStore } from "../../src/store/sqlite/maintenance/backup.ts";
import { checkStore } from "../../src/store/sqlite/maintenance/check.ts";
import { type Child, endChildren, refusedChild, startChild, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { openStream, until } from "../support/client.ts";
import { getTask, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { tempFolder } from "../support/server.ts";

let folder: ReturnType<typeof tempFolder>;
let data: string;
beforeEach(() => {
  folder = tempFolder();
  data = join(folder.path, "data");
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const COUNTER = `
    if (task.text === "ask" && task.turn === 1) return yield ctx.ask("Go on?");
    const end = task.text === "count" ? (ctx.attempt === 1 ? Infinity : 40) : 1;
    for (let i = 1; i <= end; i++) {
      yield ctx.text(i + " ");
      await sleep(2, undefined, { signal: ctx.signal });
    }`;
const launch = (where = data): Promise<Child> =>
  startChild({
    agents: [writeAgent(folder.path, "counter", COUNTER)],
    data: where,
    flags: ["--log-level", "error", "--durability", "process"],
  });
const backup = (file: string) => runCli("backup", join(folder.path, file), "--data", data);
const WATCH = { onProgress: () => {}, signal: new AbortController().signal };

/** A restore: the file in a folder, under the name that a server opens. */
function restore(file: string, name: string): string {
  const restored = join(folder.path, name);
  mkdirSync(restored);
  copyFileSync(join(folder.path, file), join(restored, "dragoman.db"));
  return restored;
}

test("a copy of a server that never stops writing is complete, and a server on it continues", async () => {
  const { url } = await launch();
  const running = (await startTask(url, V1, "count")).id;
  const asked = V1.taskIn(await rpcResult(url, "SendMessage", V1.sendParams("ask"))).id;
  const params = V1.sendParams("keyed");
  const key = { "idempotency-key": "k" };
  const first = await rpcResult(url, "SendMessage", params, key);
  const acknowledged: string[] = [];
  let stopped = false;
  const workers = Array.from({ length: 4 }, async () => {
    while (!stopped)
      acknowledged.push(V1.taskIn(await rpcResult(url, "SendMessage", V1.sendParams("short"))).id);
  });
  await until(() => acknowledged.length > 50);
  const before = [...acknowledged];
  const result = await backup("copy.db");
  expect(result).toMatchObject({ code: 0, err: "" });
  expect(result.out).toMatch(/^[\d,]+ tasks \(.* [kM]B\) copied into .*copy\.db\n$/);
  // The server was not affected: it answers, and its stream continues.
  const after = acknowledged.length;
  await until(() => acknowledged.length > after + 10);
  stopped = true;
  await Promise.all(workers);
  expect(readdirSync(folder.path).filter(name => name.includes("partial"))).toEqual([]);

  const restored = restore("copy.db", "restored");
  const report = await checkStore(restored, WATCH);
  expect(report.findings).toEqual([]);
  expect(report.unfinished.counter).toBeGreaterThan(0);
  expect(report.tasks).toBeGreaterThanOrEqual(before.length + 3);
  const second = await launch(restored);
  expect(second.banner.unfinished).toEqual(report.unfinished);
  for (const id of before) expect(V1.stateOf(await getTask(second.url, id))).toBe("completed");
  expect(await rpcResult(second.url, "SendMessage", params, key)).toEqual(first);
  await untilState(second.url, running, "completed");
  await rpcResult(second.url, "SendMessage", V1.sendParams("yes", { taskId: asked }));
  await untilState(second.url, asked, "completed");
  const stream = await openStream(second.url, "SubscribeToTask", { id: asked }, { "last-event-id": "1" });
  expect((await stream.all()).length).toBeGreaterThan(3);
  expect(V1.stateOf(await getTask(url, running))).toBe("working");
});

test("no existing file is overwritten, and a failed backup leaves no file", async () => {
  await (await launch()).stop();
  writeFileSync(join(folder.path, "mine.txt"), "precious");
  const taken = await backup("mine.txt");
  expect([taken.code, taken.out]).toEqual([1, ""]);
  expect(taken.err).toMatch(/mine\.txt exists already and is not overwritten/);
  expect(readFileSync(join(folder.path, "mine.txt"), "utf8")).toBe("precious");
  const nowhere = await backup("no/such/folder/copy.db");
  expect([nowhere.code, nowhere.out]).toEqual([1, ""]);
  expect(nowhere.err).toMatch(/could not be written.*folder exists and can be written/);
  const nothing = await runCli("backup", join(folder.path, "x.db"), "--data", folder.path);
  expect(nothing.err).toContain("There is no store in");
  expect(readdirSync(folder.path).toSorted()).toEqual(["counter.ts", "data", "mine.txt"]);
});

test("an interrupted backup leaves no file, and reports its progress", async () => {
  const { url } = await launch();
  await rpcResult(url, "SendMessage", V1.sendParams("short"));
  const db = new DatabaseSync(join(data, "dragoman.db"));
  // Large enough for the copy to take a while.
  db.exec("PRAGMA busy_timeout = 5000; CREATE TABLE ballast (bytes BLOB)");
  for (let i = 0; i < 50; i++) db.exec("INSERT INTO ballast VALUES (randomblob(4000000))");
  const target = join(folder.path, "copy.db");
  const stop = new AbortController();
  let seen: readonly [done: number, total: number] = [0, 0];
  const onProgress = (done: number, total: number): void => {
    seen = [done, total];
    if (done > 0) stop.abort();
  };
  await expect(copyStore({ folder: data, target, onProgress, signal: stop.signal })).rejects.toThrow(/abort/);
  expect(seen[1]).toBeGreaterThan(0);
  expect(existsSync(target)).toBe(false);
  db.exec("DROP TABLE ballast");
  db.close();
  expect((await backup("copy.db")).code).toBe(0);
  expect(readdirSync(folder.path).filter(name => name.includes("partial"))).toEqual([]);
});

test("a read-only store can be inspected and copied, and a server refuses it with a clear message", async ({
  skip,
}) => {
  // Root may write everywhere, so the server and the commands run as an unprivileged user.
  if (process.getuid?.() !== 0) return skip("NOT TESTED: only root can change the user");
  const first = await launch();
  await rpcResult(first.url, "SendMessage", V1.sendParams("short"));
  await first.stop();
  chmodSync(folder.path, 0o755);
  chmodSync(join(data, "dragoman.db"), 0o444);
  chmodSync(data, 0o555);
  const refusal = await refusedChild({ data, uid: 65_534 });
  if (/EACCES.*(\.ts|node_modules)|Cannot find module/.test(refusal.err))
    return skip("NOT TESTED: the repository cannot be read by an unprivileged user");
  expect([refusal.code, refusal.out]).toEqual([1, ""]);
  expect(refusal.err).toContain(data);
  expect(refusal.err).toMatch(/cannot be written.*--data DIR/);
  process.seteuid?.(65_534);
  try {
    expect((await checkStore(data, WATCH)).findings).toEqual([]);
  } finally {
    process.seteuid?.(0);
  }
});
