import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { runCli } from "../support/cli.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Keys that are created, rotated and removed, while cards stay verifiable and secrets readable. */

const keyed: AgentDefinition = {
  name: "keyed",
  async run(_task, ctx) {
    const found = await ctx.credentials("vendor");
    return found ? `I know ${found.token}` : ctx.askAuth({ name: "vendor", scheme: "bearer" });
  },
};

const CARD = "/.well-known/agent-card.json";
let folder: ReturnType<typeof tempFolder>;
let server: TestServer | undefined;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  folder.remove();
});

async function start(): Promise<TestServer> {
  server = await serve([keyed], { data: folder.path, signCards: true });
  return server;
}
async function stop(): Promise<void> {
  await server?.stop();
  server = undefined;
}
const keys = (...args: readonly string[]) => runCli("keys", ...args, "--data", folder.path);
async function listed(): Promise<readonly Loose[]> {
  const { out, err, code } = await keys("list", "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}
const file = (): string => join(folder.path, "keys.json");
const call = (at: TestServer, method: string, params: object): Promise<Loose> =>
  rpcResult(at.url, method, params, { "a2a-version": "1.0" });
const card = (at: TestServer): Promise<Response> =>
  fetch(`${at.url}${CARD}`, { headers: { "a2a-version": "1.0" } });
const kidsOf = (signed: Loose): readonly string[] =>
  signed.signatures.map((one: Loose) => JSON.parse(Buffer.from(one.protected, "base64url").toString()).kid);

describe("signed cards", () => {
  it("are the same until they change, although no two signatures are", async () => {
    const at = await start();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const first = await card(at);
    const second = await card(at);
    expect(await second.text()).toBe(await first.text());
    const etag = first.headers.get("etag") as string;
    const again = await fetch(`${at.url}${CARD}`, {
      headers: { "a2a-version": "1.0", "if-none-match": etag },
    });
    expect(again.status).toBe(304);
  });

  it("are verified by the command, in every version with signatures", async () => {
    const at = await start();
    for (const version of ["1.0", "0.3"]) {
      const { code, out } = await runCli("card", "verify", at.url, "--header", `A2A-Version: ${version}`);
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^valid: .*\n {2}key [\w-]+ \(ES256\): valid\n$/),
      ]);
    }
    const { code, out } = await runCli("card", "verify", at.url, "--json");
    const report = JSON.parse(out);
    expect([code, report.valid, report.signatures.length]).toEqual([0, true, 1]);
  });

  it("are signed by a new key as soon as there is one, and signatures of the old one stay valid", async () => {
    const at = await start();
    const old = (await (await card(at)).json()) as Loose;
    const { code, out } = await keys("rotate", "--signing");
    expect([code, out]).toEqual([0, expect.stringMatching(/^new signing key [\w-]+\n$/)]);
    const fresh = (await (await card(at)).json()) as Loose;
    expect(kidsOf(fresh)).not.toEqual(kidsOf(old));
    const set = (await (await fetch(`${at.url}/.well-known/jwks.json`)).json()) as Loose;
    expect(set.keys.map((key: Loose) => key.kid)).toEqual([...kidsOf(fresh), ...kidsOf(old)]);
    expect((await runCli("card", "verify", at.url)).code).toBe(0);
  });
});

describe("cards of other servers", () => {
  let other: Server | undefined;
  afterEach(() => void other?.close());

  async function pretend(change: (card: Loose) => Loose): Promise<string> {
    const at = await start();
    const real = (await (await card(at)).json()) as Loose;
    other = createServer((_request, response) => response.end(JSON.stringify(change(real))));
    await new Promise<void>(resolve => other?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  }

  it("a host that names the keys of another is not trusted, unless these keys are", async () => {
    const url = await pretend(real => real);
    const { code, out } = await runCli("card", "verify", url);
    expect([code, out]).toEqual([1, expect.stringMatching(/^not valid: .*another host than the card's/s)]);
    const trusted = await runCli("card", "verify", url, "--keys", `${server?.url}/.well-known/jwks.json`);
    expect([trusted.code, trusted.out]).toEqual([0, expect.stringContaining("valid")]);
  });

  it("a changed card is invalid with any key", async () => {
    const url = await pretend(real => ({ ...real, description: "Give me your money" }));
    const set = join(folder.path, "trusted.json");
    writeFileSync(set, await (await fetch(`${server?.url}/.well-known/jwks.json`)).text());
    const { code, out } = await runCli("card", "verify", url, "--keys", set);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining("the card was changed, or signed with another key"),
    ]);
  });

  it("a card without signatures is reported as such", async () => {
    const url = await pretend(({ signatures: _, ...real }) => real);
    const { code, out } = await runCli("card", "verify", url);
    expect([code, out]).toEqual([1, expect.stringMatching(/^not signed: /)]);
  });

  it("missing keys are reported", async () => {
    const url = await pretend(real => real);
    const { code, out } = await runCli("card", "verify", url, "--keys", "/no/such/file");
    expect([code, out]).toEqual([1, expect.stringContaining("/no/such/file cannot be read: ENOENT")]);
  });
});

describe("stored secrets", () => {
  async function give(): Promise<void> {
    const at = await start();
    const { task } = await call(at, V1.send, V1.sendParams("hi"));
    const message = {
      messageId: "m",
      role: "ROLE_USER",
      taskId: task.id,
      parts: [{ data: { credentials: "hunter2" } }],
    };
    const end = await call(at, V1.send, { message });
    expect(JSON.stringify(end)).toContain("I know hunter2");
  }

  it("need their key; new keys encrypt new secrets; stored ones are re-encrypted while the server is stopped", async () => {
    await give();
    const [first] = await listed();
    expect(first).toMatchObject({ kind: "sealing", inUse: true, secrets: 1 });
    await keys("rotate", "--sealing");
    expect((await listed()).filter(key => key.kind === "sealing")).toMatchObject([
      { inUse: true, secrets: 0 },
      { id: first?.id, inUse: false, secrets: 1 },
    ]);
    const needed = await keys("remove", first?.id);
    expect([needed.code, needed.err]).toEqual([1, expect.stringContaining("run dragoman keys reseal first")]);
    const busy = await keys("reseal");
    expect([busy.code, busy.err]).toEqual([1, expect.stringContaining("in use by another Dragoman server")]);
    await stop();
    const { code, out } = await keys("reseal");
    expect([code, out]).toEqual([0, "1 secret encrypted with the newest key\n"]);
    expect((await keys("remove", first?.id)).code).toBe(0);
    expect(await listed()).toHaveLength(2);
    const at = await start();
    expect(JSON.stringify(await call(at, V1.send, V1.sendParams("again")))).toContain("I know hunter2");
  });

  it("are counted when a store is copied or checked, and a missing key is reported", async () => {
    await give();
    const copy = await runCli("backup", join(folder.path, "copy.db"), "--data", folder.path);
    expect([copy.code, copy.err]).toEqual([0, expect.stringContaining("1 encrypted secret in it")]);
    const doctor = () => runCli("doctor", "--data", folder.path);
    expect((await doctor()).code).toBe(0);
    const ring = readFileSync(file(), "utf8");
    const { id } = JSON.parse(ring).sealing[0];
    writeFileSync(file(), JSON.stringify({ ...JSON.parse(ring), sealing: otherKeys() }));
    expect((await doctor()).out).toContain(`1 secret of the key ${id}, which is not in ${file()}`);
    chmodSync(file(), 0o644);
    expect((await doctor()).out).toContain("is accessible to other users");
    rmSync(file());
    const { code, out } = await doctor();
    expect([code, out]).toEqual([1, expect.stringContaining(`the key file ${file()} does not exist`)]);
  });

  it("without their keys are requested again, and the log has the reason", async () => {
    await give();
    await stop();
    writeFileSync(
      file(),
      JSON.stringify({ ...JSON.parse(readFileSync(file(), "utf8")), sealing: otherKeys() }),
    );
    const at = await start();
    expect((await call(at, V1.send, V1.sendParams("again"))).task.status.state).toBe(
      "TASK_STATE_AUTH_REQUIRED",
    );
    expect(at.log.lines.map(({ text }) => text)).toContain(
      "credentials cannot be decrypted; they will be requested again",
    );
  });

  const otherKeys = (): readonly Loose[] => [{ id: "x".repeat(12), key: "A".repeat(43), createdAt: 1 }];
});

describe("limits of the commands", () => {
  it("a server does not start with keys that other users can read, and leaves no lock", async () => {
    await start();
    await stop();
    chmodSync(file(), 0o644);
    await expect(start()).rejects.toThrow(`chmod 600 ${file()}`);
    chmodSync(file(), 0o600);
    await start();
  });

  it("the key in use cannot be removed, and an unknown one is reported", async () => {
    await start();
    const [sealing] = await listed();
    expect((await keys("remove", sealing?.id)).err).toContain("is in use. Create a new key first");
    expect((await keys("remove", "nope")).err).toContain("Key nope not found");
    const nowhere = await runCli("keys", "list", "--data", join(folder.path, "nothing"));
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringMatching(/The key file .* does not exist/)]);
  });

  it("the output of the commands has no private keys", async () => {
    await start();
    const ring = JSON.parse(readFileSync(file(), "utf8")) as Loose;
    const secrets = [ring.sealing[0].key, ring.signing[0].jwk.d];
    const all = [await keys("list"), await keys("list", "--json"), await keys("rotate", "--json")];
    for (const { out, err } of all) for (const secret of secrets) expect(out + err).not.toContain(secret);
  });
});
