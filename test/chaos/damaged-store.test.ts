import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endChildren, refusedChild, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";

/** A data folder that is damaged, readable by other users, or invalid. */

const FLAGS = ["--default", "echo", "--log-level", "error"];
const ACCEPT = "--accept-data-loss";
let temp: ReturnType<typeof tempFolder>;
/** The folder of a server that was killed with tasks in its write-ahead log. */
let killed: string;
/** The folder of a stopped server. */
let stopped: string;
let copies = 0;

const send = async (url: string, text: string) => (await rpc(url, "SendMessage", sendParams(text))).status;
const count = async (url: string): Promise<number> =>
  (await rpc(url, "ListTasks", {})).body.result.totalSize as number;

beforeAll(async () => {
  temp = tempFolder();
  [killed, stopped] = [join(temp.path, "killed"), join(temp.path, "stopped")];
  for (const [folder, end] of [
    [killed, "kill"],
    [stopped, "stop"],
  ] as const) {
    const server = await startChild({ data: folder, flags: FLAGS });
    for (let i = 0; i < 10; i++) expect(await send(server.url, `task ${i}`)).toBe(200);
    await server[end]();
  }
});
afterEach(endChildren);
afterAll(() => temp.remove());

function copyOf(folder: string): string {
  const copy = join(temp.path, `copy-${++copies}`);
  cpSync(folder, copy, { recursive: true });
  rmSync(join(copy, "dragoman.pid"), { force: true });
  return copy;
}
const wal = (folder: string): string => join(folder, "dragoman.db-wal");

/** Flips four bytes; `at` is a fraction of the file. */
function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  const from = Math.floor(at);
  for (let i = from; i < from + 4; i++) bytes[i] = (bytes[i] as number) ^ 0xff;
  writeFileSync(file, bytes);
}

/** Refused with a message that has the remedy. */
async function expectRefused(data: string, message: RegExp): Promise<void> {
  const { code, err } = await refusedChild({ data, flags: FLAGS });
  expect([code, err]).toEqual([1, expect.stringMatching(message)]);
  expect(err).toMatch(/dragoman doctor/);
  expect(err).toMatch(/backup/);
  expect(err).toContain(ACCEPT);
  expect(err).not.toMatch(/\n\s+at /);
}

describe("a write-ahead log with flipped bytes", () => {
  const FRAME = 4096 + 24;
  it.each([
    ["in its header", 4],
    ["in its salts", 17],
    ["in its first frame", 32 + 100],
    ["in the salts of a frame", 32 + 2 * FRAME + 8],
    ["in the middle", -0.5],
    ["in the last frame", -1],
  ])("%s is refused, and nothing is changed", async (_what, position) => {
    const folder = copyOf(killed);
    const { size } = statSync(wal(folder));
    expect(size).toBeGreaterThan(10 * FRAME);
    const at = position >= 0 ? position : position === -1 ? size - 1_000 : size * -position;
    // The last 1,000 bytes of a page hold the newest rows.
    flip(wal(folder), at);
    const before = readFileSync(wal(folder));
    await expectRefused(folder, /write-ahead log .* is damaged: \d+ of its \d+ frames can be read/);
    expect(readFileSync(wal(folder)).equals(before)).toBe(true);
    const doctor = await runCli("doctor", "--data", folder);
    expect([doctor.code, doctor.out + doctor.err]).toEqual([1, expect.stringMatching(/is damaged|is empty/)]);
  });

  it("starts with the readable part, if confirmed, and a copy of the log is kept", async () => {
    const folder = copyOf(killed);
    flip(wal(folder), statSync(wal(folder)).size - 6 * FRAME);
    const before = readFileSync(wal(folder));
    const server = await startChild({ data: folder, flags: [...FLAGS, ACCEPT] });
    const left = await count(server.url);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(10);
    expect(await send(server.url, "more")).toBe(200);
    await server.stop();
    expect(readFileSync(`${wal(folder)}.damaged`).equals(before)).toBe(true);
    const again = await startChild({ data: folder, flags: FLAGS });
    expect(await count(again.url)).toBe(left + 1);
  });

  it("a backup of it reports that it is incomplete", async () => {
    const folder = copyOf(killed);
    flip(wal(folder), statSync(wal(folder)).size / 2);
    const { code, err } = await runCli("backup", join(temp.path, "damaged.db"), "--data", folder);
    expect([code, err]).toEqual([1, expect.stringMatching(/is damaged/)]);
  });
});

describe("a log that was merely truncated is no damage", () => {
  it.each([
    ["in the middle of a frame", 1_000],
    ["between two frames", 4096 + 24],
    ["with zeros behind it", -1],
  ])("%s", async (_what, bytes) => {
    const folder = copyOf(killed);
    const { size } = statSync(wal(folder));
    if (bytes > 0) truncateSync(wal(folder), size - bytes);
    else writeFileSync(wal(folder), Buffer.concat([readFileSync(wal(folder)), Buffer.alloc(50_000)]));
    const server = await startChild({ data: folder, flags: FLAGS });
    expect(await count(server.url)).toBeGreaterThanOrEqual(9);
    await server.stop();
  });

  it("a killed server continues, with everything that it acknowledged", async () => {
    const server = await startChild({ data: copyOf(killed), flags: FLAGS });
    expect(await count(server.url)).toBe(10);
  });
});

describe("a database that is empty, truncated or missing beside other files of a server", () => {
  const db = (folder: string): string => join(folder, "dragoman.db");
  const DAMAGES: readonly (readonly [string, (folder: string) => void, RegExp])[] = [
    ["empty", folder => truncateSync(db(folder), 0), /is empty, but dragoman\.store beside it/],
    [
      "empty, of an older server",
      folder => {
        truncateSync(db(folder), 0);
        rmSync(join(folder, "dragoman.store"));
      },
      /is empty, but keys\.json beside it/,
    ],
    ["cut off", folder => truncateSync(db(folder), 8_192), /is truncated/],
    ["gone", folder => rmSync(db(folder)), /is empty, but dragoman\.store/],
    [
      "nothing but zeros",
      folder => writeFileSync(db(folder), Buffer.alloc(20_000)),
      /cannot be opened: file is not a database|is empty/,
    ],
    ["a few bytes", folder => truncateSync(db(folder), 50), /is empty, but dragoman\.store/],
  ];
  it.each(DAMAGES)("%s: it is refused", async (_what, damage, message) => {
    const folder = copyOf(stopped);
    damage(folder);
    await expectRefused(folder, message);
    const doctor = await runCli("doctor", "--data", folder);
    expect(doctor.code).toBe(1);
  });

  it("empty while its log has everything: it is refused", async () => {
    const folder = copyOf(killed);
    for (const name of ["dragoman.store", "keys.json"]) rmSync(join(folder, name));
    truncateSync(db(folder), 0);
    const before = readFileSync(wal(folder));
    await expectRefused(folder, /is empty, but dragoman\.db-wal beside it/);
    expect(readFileSync(wal(folder)).equals(before)).toBe(true);
    const doctor = await runCli("doctor", "--data", folder);
    expect([doctor.code, doctor.err]).toEqual([1, expect.stringMatching(/is empty, but/)]);
  });

  it("starts empty, if confirmed", async () => {
    const folder = copyOf(stopped);
    truncateSync(db(folder), 0);
    const server = await startChild({ data: folder, flags: [...FLAGS, ACCEPT] });
    expect(await count(server.url)).toBe(0);
    await server.stop();
    await (await startChild({ data: folder, flags: FLAGS })).stop();
  });

  it("a fresh folder, an empty file in it, or a restored backup starts without a message", async () => {
    const fresh = join(temp.path, "fresh", "inside");
    const first = await startChild({ data: fresh, flags: FLAGS });
    await first.stop();
    expect(first.stderr()).not.toMatch(/error/);
    const other = join(temp.path, "other");
    mkdirSync(other);
    writeFileSync(join(other, "dragoman.db"), "");
    await (await startChild({ data: other, flags: FLAGS })).stop();
    const restored = join(temp.path, "restored");
    mkdirSync(restored);
    copyFileSync(join(stopped, "dragoman.db"), join(restored, "dragoman.db"));
    const server = await startChild({ data: restored, flags: FLAGS });
    expect(await count(server.url)).toBe(10);
  });

  it("a server that was killed during its first start can be started again", async () => {
    const folder = join(temp.path, "early");
    for (const left of [
      ["dragoman.lock"],
      ["dragoman.lock", "dragoman.db"],
      ["dragoman.lock", "dragoman.db", "keys.json"],
    ]) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      for (const name of left) copyFileSync(join(stopped, name), join(folder, name));
      await (await startChild({ data: folder, flags: FLAGS })).stop();
    }
  });
});

describe("a missing key file beside a store", () => {
  it("is not silently replaced", async () => {
    const folder = copyOf(stopped);
    rmSync(join(folder, "keys.json"));
    await expectRefused(
      folder,
      /The key file .*keys\.json is missing, but the server that used this store signed/,
    );
    expect(existsSync(join(folder, "keys.json"))).toBe(false);
    const doctor = await runCli("doctor", "--data", folder);
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(/the key file .* does not exist/)]);
    const server = await startChild({ data: folder, flags: [...FLAGS, ACCEPT] });
    expect(await count(server.url)).toBe(10);
    await server.stop();
    await (await startChild({ data: folder, flags: FLAGS })).stop();
  });

  it("is found at another place if configured", async () => {
    const folder = copyOf(stopped);
    const elsewhere = join(temp.path, "elsewhere.json");
    copyFileSync(join(folder, "keys.json"), elsewhere);
    chmodSync(elsewhere, 0o600);
    rmSync(join(folder, "keys.json"));
    await (await startChild({ data: folder, flags: [...FLAGS, "--key-file", elsewhere] })).stop();
  });
});

describe("only the user of the server may read its data", () => {
  const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
  const modesIn = (folder: string): Record<string, string> =>
    Object.fromEntries(readdirSync(folder).map(name => [name, modeOf(join(folder, name))]));
  const withUmask = (umask: string, run: () => Promise<void>): Promise<void> => {
    const before = process.umask(umask);
    return run().finally(() => process.umask(before));
  };

  it.each(["0", "22", "77"])("whatever the umask is (%s)", umask =>
    withUmask(umask, async () => {
      const folder = join(temp.path, `umask-${umask}`);
      await runCli("token", "create", "--data", folder, "--principal", "alice");
      expect(modeOf(folder)).toBe("700");
      const server = await startChild({ data: folder, flags: [...FLAGS, "--auth", "tokens"] });
      await fetch(`${server.url}/.well-known/agent-card.json`);
      const modes = modesIn(folder);
      expect(Object.keys(modes)).toEqual(
        expect.arrayContaining([
          "access.db",
          "access.db-wal",
          "access.db-shm",
          "dragoman.db",
          "dragoman.db-wal",
          "dragoman.db-shm",
          "dragoman.lock",
          "dragoman.pid",
          "dragoman.store",
          "keys.json",
        ]),
      );
      expect([modeOf(folder), new Set(Object.values(modes))]).toEqual(["700", new Set(["600"])]);
      const copy = join(temp.path, `backup-${umask}.db`);
      expect((await runCli("backup", copy, "--data", folder)).code).toBe(0);
      expect(modeOf(copy)).toBe("600");
      await server.stop();
      expect(new Set(Object.values(modesIn(folder)))).toEqual(new Set(["600"]));
    }),
  );

  it("the permissions of an older server's files are corrected at startup", async () => {
    const folder = copyOf(killed);
    for (const name of readdirSync(folder))
      if (!["keys.json", ".gitignore"].includes(name)) chmodSync(join(folder, name), 0o644);
    chmodSync(folder, 0o755);
    const server = await startChild({ data: folder, flags: FLAGS });
    expect([modeOf(folder), new Set(Object.values(modesIn(folder)))]).toEqual(["700", new Set(["600"])]);
    await server.stop();
  });

  it("a folder with files of other users is not changed", async () => {
    const folder = join(temp.path, "shared");
    mkdirSync(folder);
    writeFileSync(join(folder, "notes.txt"), "");
    chmodSync(folder, 0o1777);
    await (await startChild({ data: folder, flags: FLAGS })).stop();
    await (await startChild({ data: folder, flags: FLAGS })).stop();
    expect([modeOf(folder), modesIn(folder)["dragoman.db"]]).toEqual(["1777", "600"]);
  });
});

describe("a path that cannot be a data folder is refused at once, in one sentence", () => {
  it.each(["/proc", "/proc/x", "/proc/a/b/c", "/sys", "/sys/x", "/dev/null", "/dev/null/x"])(
    "%s",
    async data => {
      if (!existsSync(data.split("/").slice(0, 2).join("/"))) return;
      const { code, err, out } = await refusedChild({ data, flags: FLAGS });
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(
        /^error: The data folder \S+ cannot be (?:created|written) \(E[A-Z]+\)\. .*--data.*\n$/,
      );
      const token = await runCli("token", "create", "--data", data, "--principal", "alice");
      expect([token.code, token.err]).toEqual([1, expect.stringMatching(/The data folder \S+ cannot be/)]);
    },
  );

  it("a file", async () => {
    const file = join(temp.path, "a-file");
    writeFileSync(file, "x");
    for (const data of [file, join(file, "inside")]) {
      const { code, err } = await refusedChild({ data, flags: FLAGS });
      expect([code, err]).toEqual([1, expect.stringMatching(/cannot be created \(ENOTDIR\)/)]);
    }
  });

  it("a folder that is read-only", async context => {
    const folder = join(temp.path, "read-only");
    mkdirSync(folder);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", folder]).status === 0;
    if (!mounted) return context.skip("a disk cannot be mounted here");
    try {
      for (const data of [folder, join(folder, "inside")]) {
        const { code, err } = await refusedChild({ data, flags: FLAGS });
        expect([code, err]).toEqual([1, expect.stringMatching(/cannot be (?:created|written) \(EROFS\)/)]);
      }
    } finally {
      spawnSync("umount", [folder]);
    }
  });
});
