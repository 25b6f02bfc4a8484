import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentName } from "../../model/index.ts";
import { toRetentionBounds } from "../kernel/retention.ts";
import { createMaintenanceThread } from "./maintenance-thread.ts";

const MIB = 1024 * 1024;
let folder: string;
let file: string;
let db: DatabaseSync;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-thread-"));
  file = join(folder, "test.db");
  db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE row (bytes)");
});
afterEach(() => {
  if (db.isOpen) db.close();
  rmSync(folder, { recursive: true });
});

test("a write-ahead log that has become large is moved into the file", async () => {
  const thread = createMaintenanceThread(file);
  db.prepare("INSERT INTO row VALUES (zeroblob(?))").run(20 * MIB);
  await expect.poll(() => statSync(file).size).toBeGreaterThan(20 * MIB);
  await thread.stop();
  db.close();
  thread.closeHandle();
});

test("a search after the stop finds nothing, and starts no thread", async () => {
  const thread = createMaintenanceThread(file);
  await thread.stop();
  const bounds = toRetentionBounds({ count: 1 }, 0);
  expect(await thread.findExpired("echo" as AgentName, bounds)).toEqual({ tasks: [], logs: [] });
  await thread.stop();
});
