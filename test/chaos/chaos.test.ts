import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  expectFullText,
  expectOneTaskEach,
  expectSameReplay,
  expectStepsOnce,
  worker,
} from "../support/chaos/assertions.ts";
import { runChaos } from "../support/chaos/single-node.ts";
import { endChildren, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { tempFolder } from "../support/server.ts";

/** `npm run soak` runs it for an hour. */
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

test(`a server that is killed ${KILLS} times under ${CALLERS} callers of all dialects loses nothing and repeats nothing`, {
  timeout: 300_000 + KILLS * 10_000,
}, async () => {
  const ledger = join(folder.path, "ledger");
  const agent = writeAgent(folder.path, "worker", worker(ledger), { attempts: 1_000 });
  const storm = await runChaos({
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
  for (const one of done) expectFullText(one);
  for (const one of done) if (one.how === "stream") await expectSameReplay(server.url, one);
  expectStepsOnce(readFileSync(ledger, "utf8"));
  const { code, out } = await runCli("doctor", "--data", join(folder.path, "data"));
  expect([code, out]).toEqual([0, expect.any(String)]);
});
