import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rage } from "../support/chaos/storm.ts";
import {
  expectAllSaid,
  expectOneTaskEach,
  expectSameAgain,
  expectStepsOnce,
  worker,
} from "../support/chaos/verdict.ts";
import { endChildren, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { tempFolder } from "../support/server.ts";

/** `npm run soak` has an hour of it. */
const KILLS = Number(process.env.DRAGOMAN_CHAOS_KILLS ?? 20);
const CALLERS = 50;

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

test(`a server that is killed ${KILLS} times under ${CALLERS} callers of all dialects loses nothing and does nothing twice`, {
  timeout: 300_000 + KILLS * 10_000,
}, async () => {
  const ledger = join(folder.path, "ledger");
  const agent = writeAgent(folder.path, "worker", worker(ledger), { attempts: 1_000 });
  const storm = await rage({
    agents: [agent],
    data: join(folder.path, "data"),
    callers: CALLERS,
    kills: KILLS,
    lifeMs: [300, 1_500],
    chance: Math.random,
  });

  const { done, server } = storm;
  expect(done.length).toBeGreaterThan(CALLERS);
  expect(done.some(one => one.breaks > 0)).toBe(true);
  await expectOneTaskEach(server.url, done);
  for (const one of done) expectAllSaid(one);
  for (const one of done) if (one.how === "stream") await expectSameAgain(server.url, one);
  expectStepsOnce(readFileSync(ledger, "utf8"));
  const { code, out } = await runCli("doctor", "--data", join(folder.path, "data"));
  expect([code, out]).toEqual([0, expect.any(String)]);
});
