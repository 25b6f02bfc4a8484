import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StartupError } from "../lib/startup-error.ts";
import type { Log } from "../ports/index.ts";
import { type KeyParts, listKeys, loadKeys, rotateKeys, withoutKey, writeKeyFile } from "./index.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";

let folder: string;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-keys-"));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log: Log = Object.fromEntries(
  ["debug", "info", "warn", "error"].map(level => [level, (_: object, text: string) => logged.push(text)]),
) as unknown as Log;
const open = (place: Partial<KeyParts> = {}): ReturnType<typeof loadKeys> =>
  loadKeys({
    keys: undefined,
    keysCommand: undefined,
    keyFile: undefined,
    data: folder,
    lost: () => undefined,
    now: () => 7,
    log,
    ...place,
  });
const file = (): string => join(folder, "keys.json");
const ringIn = (): KeyRing => JSON.parse(readFileSync(file(), "utf8")) as KeyRing;
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("where keys are", () => {
  it("the first start makes a file that only its owner may read; the next one finds it", () => {
    const { kid } = open().signer;
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(open().signer.kid).toBe(kid);
    expect(ringIn().signing[0]?.createdAt).toBe(7);
  });

  it("a file that others can read is refused, with what to do", () => {
    open();
    chmodSync(file(), 0o640);
    expect(refusal(open)).toContain(`chmod 600 ${file()}`);
  });

  it.each(["", "{", "[]", '{"version":1,"sealing":[],"signing":[]}', '{"version":2}'])(
    "what is no key ring is refused, and not shown: %j",
    text => {
      writeFileSync(file(), text, { mode: 0o600 });
      expect(refusal(open)).toBe(
        `The key file ${file()} contains no keys of a Dragoman server. ` +
          "Restore the right keys: with new ones, stored secrets cannot be decrypted.",
      );
    },
  );

  it("they can be given as text, or by a program; then there is no file", () => {
    const ring = createKeyRing(1);
    const kid = ring.signing[0]?.kid;
    const text = JSON.stringify(ring);
    expect(open({ keys: text }).signer.kid).toBe(kid);
    const keysCommand = [process.execPath, "-e", "console.log(process.argv[1])", text];
    expect(open({ keysCommand }).signer.kid).toBe(kid);
    expect(() => statSync(file())).toThrow("ENOENT");
  });

  it("a program that fails is told by how it ended, never by what it printed", () => {
    const keysCommand = [process.execPath, "-e", "console.log('hunter2'); process.exit(3)"];
    expect(refusal(() => open({ keysCommand }))).toMatch(/failed \(exit code 3\)/);
    expect(refusal(() => open({ keysCommand: ["/no/such/program"] }))).toMatch(/failed \(ENOENT\)/);
    expect(refusal(() => open({ keys: "hunter2" }))).not.toContain("hunter2");
  });

  it("in memory they go with the process", () => {
    expect(open({ data: ":memory:" }).signer.kid).not.toBe(open({ data: ":memory:" }).signer.kid);
  });
});

describe("new keys", () => {
  it("a server that runs takes up a new file by itself; old keys still open and can still be checked", () => {
    const { encryption, signer } = open();
    const sealed = encryption.encrypt("hunter2");
    const { kid } = signer;
    writeKeyFile(file(), rotateKeys(ringIn(), ["sealing", "signing"], 8));
    expect(signer.kid).not.toBe(kid);
    expect(signer.jwks().keys.map(key => key.kid)).toEqual([signer.kid, kid]);
    expect(encryption.decrypt(sealed)).toBe("hunter2");
    expect(encryption.encrypt("x").split(".")[1]).toBe(ringIn().sealing[0]?.id);
    expect(logged).toEqual(["keys reloaded"]);
  });

  it("a file that is broken or gone while the server runs changes nothing, and is told", () => {
    const { encryption, signer } = open();
    const { kid } = signer;
    const sealed = encryption.encrypt("x");
    writeFileSync(file(), "{");
    expect([signer.kid, encryption.decrypt(sealed)]).toEqual([kid, "x"]);
    rmSync(file());
    expect([signer.kid, encryption.decrypt(sealed)]).toEqual([kid, "x"]);
    expect(logged).toEqual([
      "the key file cannot be read; the loaded keys stay in use",
      "the key file is missing; the loaded keys stay in use",
    ]);
  });

  it("one kind can be made anew alone, and an old key can be taken away", () => {
    const first = createKeyRing(1);
    const second = rotateKeys(first, ["signing"], 2);
    expect(second.sealing).toEqual(first.sealing);
    expect(listKeys(second).map(({ kind, inUse, createdAt }) => [kind, inUse, createdAt])).toEqual([
      ["sealing", true, 1],
      ["signing", true, 2],
      ["signing", false, 1],
    ]);
    const [, old] = second.signing;
    expect(withoutKey(second, old?.kid ?? "").signing).toHaveLength(1);
  });

  it("without its key a secret cannot be opened, nor when it was changed", () => {
    const { encryption } = open();
    const sealed = encryption.encrypt("hunter2");
    expect(() => open({ data: ":memory:" }).encryption.decrypt(sealed)).toThrow("cannot be decrypted");
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`;
    for (const one of [changed, "", "v1..", `v1.${"x".repeat(12)}.AA`])
      expect(() => encryption.decrypt(one)).toThrow("cannot be decrypted");
    expect(encryption.encrypt("hunter2")).not.toBe(sealed);
    expect(sealed).not.toContain("hunter2");
  });

  it("what is told of keys has nothing of their private halves", () => {
    const { signer } = open();
    const secret = String(ringIn().signing[0]?.jwk.d);
    expect(JSON.stringify([signer.jwks(), listKeys(ringIn())])).not.toContain(secret);
    expect(Object.keys(signer.jwks().keys[0] ?? {})).toEqual(["kty", "crv", "x", "y", "kid", "use", "alg"]);
  });
});
