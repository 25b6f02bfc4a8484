import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { echo } from "../support/agents.ts";
import { runCli } from "../support/cli.ts";
import { until } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Webhooks for operators: inspection and redelivery. */

let folder: ReturnType<typeof tempFolder>;
let hook: Receiver;
let server: TestServer;
const data = (): string => join(folder.path, "data");

beforeEach(async () => {
  folder = tempFolder();
  hook = await openReceiver(() => ({ status: 500 }));
  server = await serve([echo], { data: data(), drainMs: 0, pushGiveUpMs: 100 });
});
afterEach(async () => {
  await server.stop();
  await hook.close();
  folder.remove();
});

async function send(token = "s3cret"): Promise<string> {
  const configuration = { taskPushNotificationConfig: { id: "mine", url: `${hook.url}/hook`, token } };
  return (await rpcResult(server.url, V1.send, V1.sendParams("hi", {}, { configuration }))).task.id;
}
const isDead = async (id: string): Promise<boolean> =>
  ((await (await fetch(`${server.url}/admin/pushes?task=${id}`)).json()) as Loose).pushes[0].state === "dead";

test("push lists the webhooks of a task, and redeliver repeats them", async () => {
  const id = await send();
  await until(() => isDead(id));
  const seen = await runCli("push", server.url, id);
  expect([seen.code, seen.err]).toEqual([0, ""]);
  expect(seen.out).toMatch(
    /\nmine +http:\/\/127\.0\.0\.1:\d+\/hook +given up after \d+ failed attempts?,.* event 2: 500 in \d+ ms\n/,
  );
  const json = JSON.parse((await runCli("push", `${server.url}/agents/echo`, id, "--json")).out);
  expect(json).toMatchObject({
    task: id,
    pushes: [
      {
        id: "mine",
        dialect: "v1",
        events: "all",
        tenant: "default",
        principal: "anonymous",
        has: ["token"],
        state: "dead",
      },
    ],
  });
  hook.answer = () => ({ status: 200 });
  const again = await runCli("push", "redeliver", server.url, id, "mine");
  expect([again.code, again.out]).toEqual([0, "delivering to 1 webhook\n"]);
  await until(async () => !(await isDead(id)));
  const done = await runCli("push", "redeliver", server.url, id, "--from-start", "--json");
  expect(JSON.parse(done.out)).toEqual({ task: id, redelivered: 1 });

  const none = await runCli("push", server.url, "nobody");
  expect([none.code, none.err]).toEqual([1, expect.stringMatching(/No webhook of task nobody/)]);
  const missing = await runCli("push", "redeliver", server.url, id, "other");
  expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/Push config not found/)]);
});

test("only administrators can list them, and no page of another origin can redeliver", async () => {
  const id = await send();
  const path = `${server.url}/admin/pushes/redeliver`;
  const body = JSON.stringify({ task: id });
  expect((await fetch(path, { method: "POST", body })).status).toBe(400);
  expect((await fetch(`${server.url}/admin/pushes`)).status).toBe(400);
  const json = { "content-type": "application/json" };
  for (const wrong of ["[]", "{", '{"task":1}', `{"task":"${id}","config":1}`, `{"task":"${id}","from":"x"}`])
    expect((await fetch(path, { method: "POST", headers: json, body: wrong })).status).toBe(400);
});

test("secrets are encrypted in the store, a backup is complete, and doctor finds rows that do not belong", async () => {
  const id = await send("s3cret");
  await until(() => isDead(id));
  const copy = join(folder.path, "copy", "dragoman.db");
  await server.stop();
  const db = new DatabaseSync(join(data(), "dragoman.db"));
  const [row] = db.prepare("SELECT more FROM push").all() as [{ more: string }];
  expect(row.more).not.toContain("s3cret");
  expect(row.more).toContain("v1.");
  expect((await runCli("doctor", "--data", data())).out).toContain("no problems found");
  mkdirSync(join(folder.path, "copy"));
  expect((await runCli("backup", copy, "--data", data())).code).toBe(0);
  copyFileSync(join(data(), "keys.json"), join(folder.path, "copy", "keys.json"));
  hook.answer = () => ({ status: 200 });
  server = await serve([echo], { data: join(folder.path, "copy") });
  await runCli("push", "redeliver", server.url, id);
  await until(() => hook.all.at(-1)?.headers["x-a2a-notification-token"] === "s3cret");
  db.exec("UPDATE push SET task = task + 1");
  db.close();
  const broken = await runCli("doctor", "--data", data());
  expect([broken.code, broken.out + broken.err]).toEqual([
    1,
    expect.stringMatching(/push configs without a task: 1/),
  ]);
});

test("without its keys a server logs that the secrets are lost, and gives the webhook up", async () => {
  const id = await send();
  await until(() => isDead(id));
  await server.stop();
  rmSync(join(data(), "keys.json"));
  const count = hook.all.length;
  await expect(serve([echo], { data: data() })).rejects.toThrow(
    /The key file .* is missing, but secrets in the store \(\d+\) can only be decrypted with its keys/,
  );
  server = await serve([echo], { data: data(), drainMs: 0, acceptDataLoss: true });
  await runCli("push", "redeliver", server.url, id);
  await until(() => isDead(id));
  expect((await runCli("push", server.url, id)).out).toMatch(/cannot be decrypted; send it again/);
  expect(hook.all).toHaveLength(count);
});
