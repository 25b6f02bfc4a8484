import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Done, replay } from "../support/chaos/caller.ts";
import { rage, type Storm } from "../support/chaos/storm.ts";
import { endChildren, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, type SseEvent } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";

/** `npm run soak` has an hour of it. */
const KILLS = Number(process.env.DRAGOMAN_CHAOS_KILLS ?? 20);
const CALLERS = 50;
const STEPS = 4;

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

/** Each step leaves a line in a file of its own when it begins, outside of the store: who ran it, and in which process. */
const worker = (ledger: string): string => `
    const { appendFileSync } = await import("node:fs");
    yield ctx.text(task.text + ":");
    for (let i = 1; i <= ${STEPS}; i++) {
      const made = await ctx.step("step " + i, async () => {
        appendFileSync(${JSON.stringify(ledger)}, task.text + " " + i + " " + process.pid + "\\n");
        await sleep(5 * Math.random());
        return i * i;
      });
      yield ctx.text(" " + made);
      await sleep(20 * Math.random());
    }`;
const wholeText = (job: string): string =>
  `${job}:${Array.from({ length: STEPS }, (_, i) => ` ${(i + 1) ** 2}`).join("")}`;

test(`a server that is killed ${KILLS} times under ${CALLERS} callers of all dialects loses nothing and does nothing twice`, {
  timeout: 120_000 + KILLS * 4_000,
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
  await expectOneTaskEach(storm);
  for (const one of done) if (one.how === "stream") await expectSameAgain(server.url, one);
  expectStepsOnce(readFileSync(ledger, "utf8"));
  const { code, out } = await runCli("doctor", "--data", join(folder.path, "data"));
  expect([code, out]).toEqual([0, expect.any(String)]);
});

/** Every message that was answered has exactly one task, it has ended, and it says what it should. */
async function expectOneTaskEach({ server, done }: Storm): Promise<void> {
  const tasks = new Map<string, { state: string; text: string }[]>();
  let pageToken = "";
  do {
    const params = { pageSize: 100, includeArtifacts: true, ...(pageToken && { pageToken }) };
    const { body } = await rpc(`${server.url}/agents/worker`, "ListTasks", params);
    for (const task of body.result.tasks) {
      const job = task.history[0].parts[0].text;
      const text = task.artifacts.flatMap((one: Loose) => one.parts).map((one: Loose) => one.text);
      tasks.set(job, [...(tasks.get(job) ?? []), { state: task.status.state, text: text.join("") }]);
    }
    pageToken = body.result.nextPageToken;
  } while (pageToken !== "");
  const found = done.map(({ text }) => [text, tasks.get(text)]);
  const expected = done.map(({ text }) => [text, [{ state: "TASK_STATE_COMPLETED", text: wholeText(text) }]]);
  expect(found).toEqual(expected);
}
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
type Loose = any;

/** What a caller put together over all connections is what the log says now: no gap, nothing twice. */
async function expectSameAgain(url: string, { speaker, text, events }: Done): Promise<void> {
  const [first, ...rest] = events as [SseEvent, ...SseEvent[]];
  const again = await Array.fromAsync(await replay(url, speaker, text, first.id));
  const told = (list: readonly SseEvent[]) => list.map(({ id, data }) => [id, data.result ?? data]);
  expect({ speaker: speaker.name, text, told: told(rest) }).toEqual({
    speaker: speaker.name,
    text,
    told: told(again),
  });
}

/** A step ran once, unless the process that began it ended before the step was over: then it was that process's last. */
function expectStepsOnce(ledger: string): void {
  const runs = new Map<string, { step: number; pid: string }[]>();
  for (const line of ledger.trim().split("\n")) {
    const [job, step, pid] = line.split(" ") as [string, string, string];
    runs.set(job, [...(runs.get(job) ?? []), { step: Number(step), pid }]);
  }
  for (const [job, steps] of runs) {
    const kept = steps.filter(({ step, pid }, i) => {
      const next = steps[i + 1];
      const cutOff = next !== undefined && next.pid !== pid && next.step === step;
      return !cutOff;
    });
    expect({ job, steps: kept.map(({ step }) => step) }).toEqual({
      job,
      steps: Array.from({ length: STEPS }, (_, i) => i + 1),
    });
  }
}
