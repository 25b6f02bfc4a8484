import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addressFiles, readAddress, removeAddress, writeAddress } from "./address-file.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "dragoman-address-"));
});
afterEach(() => rmSync(cwd, { recursive: true }));

test("a server is found by its data folder, and by the folder in which it was started", () => {
  const files = addressFiles(cwd, cwd);
  expect(readAddress(files)).toBeUndefined();
  writeAddress(files, "http://127.0.0.1:1");
  expect(readAddress(files)).toBe("http://127.0.0.1:1");
  expect(readAddress(addressFiles(cwd, undefined))).toBe("http://127.0.0.1:1");
  expect(readAddress(addressFiles(join(cwd, "other"), cwd))).toBe("http://127.0.0.1:1");
  removeAddress(files, "http://127.0.0.1:1");
  expect(readAddress(files)).toBeUndefined();
});

test("a server that stops leaves the address of another one that was started later", () => {
  const files = addressFiles(cwd, undefined);
  writeAddress(files, "http://127.0.0.1:1");
  writeAddress(files, "http://127.0.0.1:2");
  removeAddress(files, "http://127.0.0.1:1");
  expect(readAddress(files)).toBe("http://127.0.0.1:2");
  removeAddress(files, "http://127.0.0.1:2");
});

test("the address of a process that was killed does not count", () => {
  const [file = ""] = addressFiles(cwd, cwd);
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(file, `http://127.0.0.1:1\n${pid}\n`);
  expect(readAddress([file])).toBeUndefined();
});

test("a folder that cannot be written is no error", () => {
  const files = addressFiles(cwd, join(cwd, "nowhere"));
  writeAddress(files.slice(0, 1), "http://127.0.0.1:1");
  expect(readAddress(files)).toBeUndefined();
});
