/** What must be true after a storm. */
import { expect } from "vitest";
import { rpc, type SseEvent } from "../client.ts";
import type { Received } from "../receiver.ts";
import { type Done, replay } from "./caller.ts";

const STEPS = 4;

/** Each step leaves a line in a file of its own when it begins, outside of the store: who ran it, and in which process. */
export const worker = (ledger: string): string => `
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

/** Every message that was answered has exactly one task, it has ended, and it says what it should. */
export async function expectOneTaskEach(url: string, done: readonly Done[]): Promise<void> {
  const tasks = new Map<string, { state: string; text: string }[]>();
  let pageToken = "";
  do {
    const params = { pageSize: 100, includeArtifacts: true, ...(pageToken && { pageToken }) };
    const { body } = await rpc(`${url}/agents/worker`, "ListTasks", params);
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
export async function expectSameAgain(url: string, { speaker, text, events }: Done): Promise<void> {
  const [first, ...rest] = events as [SseEvent, ...SseEvent[]];
  const again = await Array.fromAsync(await replay(url, speaker, text, first.id));
  const told = (list: readonly SseEvent[]) => list.map(({ id, data }) => [id, data.result ?? data]);
  expect({ speaker: speaker.name, text, told: told(rest) }).toEqual({
    speaker: speaker.name,
    text,
    told: told(again),
  });
}

/** A webhook took every event of its task at least once, and in order: the same one again counts as one. */
export function expectPushedInOrder(job: string, taken: readonly Received[]): void {
  const seen = new Set<string>();
  const first = taken.filter(({ id }) => !seen.has(id) && seen.add(id));
  const places = first.map(({ id }) => Number(id.split("_").at(-1)));
  expect({
    job,
    places,
    text: first.reduce((text, { body }) => fold(text, body.artifactUpdate), ""),
    begin: first[0]?.body.task?.status.state,
    end: first.at(-1)?.body.statusUpdate?.status.state,
  }).toEqual({
    job,
    places: places.toSorted((a, b) => a - b),
    text: wholeText(job),
    begin: "TASK_STATE_SUBMITTED",
    end: "TASK_STATE_COMPLETED",
  });
}

/** An attempt that begins anew, because the one before noted nothing, takes the place of its words. */
function fold(text: string, update: Loose): string {
  if (!update) return text;
  const words = update.artifact.parts.map((part: Loose) => part.text).join("");
  return update.append ? text + words : words;
}

/**
 * A step ran once, unless the process that began it ended before the step was over: then it was that process's last.
 * `anywhere`: unless it could not be put on record, so that it was begun again, by whichever process.
 */
export function expectStepsOnce(ledger: string, anywhere = false): void {
  const runs = new Map<string, { step: number; pid: string }[]>();
  for (const line of ledger.trim().split("\n")) {
    const [job, step, pid] = line.split(" ") as [string, string, string];
    runs.set(job, [...(runs.get(job) ?? []), { step: Number(step), pid }]);
  }
  for (const [job, steps] of runs) {
    const kept = steps.filter(({ step, pid }, i) => {
      const next = steps[i + 1];
      const cutOff = next !== undefined && (anywhere || next.pid !== pid) && next.step === step;
      return !cutOff;
    });
    expect({ job, steps: kept.map(({ step }) => step) }).toEqual({
      job,
      steps: Array.from({ length: STEPS }, (_, i) => i + 1),
    });
  }
}
