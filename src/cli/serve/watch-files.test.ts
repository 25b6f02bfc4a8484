import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FolderWatcher, isWithin, oneAtATime, outermost, watchFolders } from "./watch-files.ts";

const QUIET_MS = 100;

let folder: string;
let watching: FolderWatcher | undefined;
let changes = 0;

beforeEach(async () => {
  changes = 0;
  folder = await mkdtemp(join(tmpdir(), "dragoman-watch-"));
  for (const name of ["node_modules/x", "data", "lib"]) await mkdir(join(folder, name), { recursive: true });
  watching = watchFolders({
    folders: [folder, join(folder, "lib")],
    ignored: [join(folder, "data")],
    quietMs: QUIET_MS,
    onChange: () => {
      changes += 1;
    },
    onError: error => {
      throw error;
    },
  });
  await sleep(100);
});
afterEach(async () => {
  watching?.close();
  await rm(folder, { recursive: true });
});

const until = async (enough: () => boolean) => {
  for (let tries = 0; tries < 3_000 && !enough(); tries++) await sleep(10);
};

test("a burst of writes is one change", async () => {
  // Synchronously: on a busy machine an await in between may take longer than the quiet time.
  for (let time = 0; time < 5; time++) writeFileSync(join(folder, "agent.ts"), `// ${time}`);
  writeFileSync(join(folder, "lib", "part.ts"), "");
  await until(() => changes > 0);
  await sleep(3 * QUIET_MS);
  expect(changes).toBe(1);
});

test("packages, data and files that are not sources are ignored", async () => {
  await writeFile(join(folder, "node_modules", "x", "index.js"), "");
  await writeFile(join(folder, "data", "x.json"), "{}");
  await writeFile(join(folder, "picture.png"), "");
  await sleep(3 * QUIET_MS);
  expect(changes).toBe(0);
});

test("a closed watcher reports nothing", async () => {
  watching?.close();
  await writeFile(join(folder, "agent.ts"), "");
  await sleep(3 * QUIET_MS);
  expect(changes).toBe(0);
});

test("a folder inside another one is watched with it", () => {
  expect(outermost(["/a/b", "/a", "/a/", "/ab"])).toEqual(["/a", "/ab"]);
  expect([isWithin("/a", "/a"), isWithin("/a", "/a/..b"), isWithin("/a", "/ab")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("calls during a run cause one more run after it", async () => {
  let runs = 0;
  const work = oneAtATime(async () => {
    runs += 1;
    await sleep(20);
  });
  await Promise.all([work(), work(), work()]);
  expect(runs).toBe(2);
  await work();
  expect(runs).toBe(3);
});
