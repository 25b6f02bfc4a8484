/** The assertions after a chaos test. */
import { expect } from "vitest";
import { rpc, type SseEvent } from "../client.ts";
import type { Received } from "../receiver.ts";
import { type CallResult, replay } from "./caller.ts";

const STEPS = 4;
/** Chunks after each step. */
const WORDS = 3;

/**
 * Each step writes two lines to a separate file, outside of the store: when it begins, and when its result is
 * recorded. Its chunks are numbered and derived from the message, so that the expected output is known
 * without a server.
 */
export const worker = (ledger: string): string => `
    const { appendFileSync } = await import("node:fs");
    const write = (...words) =>
      appendFileSync(${JSON.stringify(ledger)}, [task.text, ctx.attempt, process.pid, ...words].join(" ") + "\\n");
    yield ctx.text(task.text + ":");
    for (let i = 1; i <= ${STEPS}; i++) {
      let ran = false;
      const made = await ctx.step("step " + i, async () => {
        ran = true;
        write("begins", i);
        await sleep(5 * Math.random());
        return i * i;
      });
      if (ran) write("recorded", i);
      for (let word = 1; word <= ${WORDS}; word++) {
        yield ctx.text(" " + task.text + "/" + made + "." + word);
        if (Math.random() < 0.5) await sleep(10 * Math.random());
      }
    }`;
const wholeText = (job: string): string => {
  const words = (made: number): string =>
    Array.from({ length: WORDS }, (_, i) => ` ${job}/${made}.${i + 1}`).join("");
  return `${job}:${Array.from({ length: STEPS }, (_, i) => words((i + 1) ** 2)).join("")}`;
};

/** Every answered message has exactly one task, which has ended with the expected text. */
export async function expectOneTaskEach(url: string, done: readonly CallResult[]): Promise<void> {
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

/** The text of a caller, over all connections, is the output of the agent: every chunk, in order, once. */
export function expectFullText({ client, text, how, events, answer }: CallResult): void {
  const results = how === "send" ? [answer] : events.map(({ data }) => data.result ?? data);
  expect({
    client: client.name,
    how,
    text: results.reduce(foldAny, ""),
    state: stateIn(results.at(-1)),
  }).toEqual({ client: client.name, how, text: wholeText(text), state: "completed" });
}

/** In any dialect: a chunk of an artifact, a whole task, or a task with its text in a message. */
function foldAny(text: string, result: Loose): string {
  const update = result.artifactUpdate ?? result;
  if (update.artifact)
    return fold(text, { append: update.append ?? update.artifact.append, artifact: update.artifact });
  const task = result.task ?? result;
  if (task.artifacts) return task.artifacts.flatMap((one: Loose) => one.parts.map(textIn)).join("");
  return task.status?.message ? task.status.message.parts.map(textIn).join("") : text;
}
const textIn = (part: Loose): string => part.text;

const stateIn = (result: Loose): string | undefined => {
  const { status } = result?.task ?? result?.statusUpdate ?? result ?? {};
  return status?.state.replace("TASK_STATE_", "").toLowerCase();
};

/** A repeated call gets the same events from the log: no gap, nothing twice. */
export async function expectSameReplay(url: string, { client, text, events }: CallResult): Promise<void> {
  const [first, ...rest] = events as [SseEvent, ...SseEvent[]];
  const again = await Array.fromAsync(await replay(url, client, text, first.id));
  const contents = (list: readonly SseEvent[]) => list.map(({ id, data }) => [id, data.result ?? data]);
  expect({ client: client.name, text, contents: contents(rest) }).toEqual({
    client: client.name,
    text,
    contents: contents(again),
  });
}

/** A webhook accepted every event of its task at least once, and in order: repetitions count once. */
export function expectPushedInOrder(job: string, accepted: readonly Received[]): void {
  const seen = new Set<string>();
  const first = accepted.filter(({ id }) => !seen.has(id) && seen.add(id));
  const positions = first.map(({ id }) => Number(id.split("_").at(-1)));
  expect({
    job,
    positions,
    text: first.reduce((text, { body }) => fold(text, body.artifactUpdate), ""),
    begin: first[0]?.body.task?.status.state,
    end: first.at(-1)?.body.statusUpdate?.status.state,
  }).toEqual({
    job,
    positions: positions.toSorted((a, b) => a - b),
    text: wholeText(job),
    begin: "TASK_STATE_SUBMITTED",
    end: "TASK_STATE_COMPLETED",
  });
}

/** An attempt that starts over, because the previous one recorded nothing, replaces its chunks. */
function fold(text: string, update: Loose): string {
  if (!update) return text;
  const added = update.artifact.parts.map((part: Loose) => part.text).join("");
  return update.append ? text + added : added;
}

interface Line {
  readonly job: string;
  readonly attempt: number;
  readonly pid: string;
  readonly what: string;
  readonly step: number;
}

function toLine(line: string): Line {
  const [job = "", attempt, pid = "", what = "", step] = line.split(" ");
  return { job, attempt: Number(attempt), pid, what, step: Number(step) };
}

/**
 * The guarantees for steps:
 * - No attempt begins a step that an earlier attempt has recorded.
 * - A step is recorded by one attempt: a second attempt that ran it as well, because it did not know that its lease had
 *   expired, is refused.
 * - A step that is not recorded is repeated. In a cluster that is another attempt: a claim is committed before its run
 *   begins. In one server (`nodes` is 1) it is another process: the previous one was killed. The attempt may have the
 *   same number there, because a run may begin before the first commit of its task (invariant I10).
 */
export function expectStepsOnce(ledger: string, nodes = 1): void {
  const lines = ledger.trim().split("\n").map(toLine);
  for (const [job, all] of Map.groupBy(lines, line => line.job)) {
    const begun = all.filter(line => line.what === "begins");
    const recorded = all.filter(line => line.what === "recorded");
    const isRepeated = ({ step, attempt }: Line): boolean =>
      recorded.some(one => one.step === step && one.attempt < attempt);
    expect({
      job,
      steps: [...new Set(begun.map(line => line.step))].toSorted(),
      afterRecord: begun.filter(isRepeated),
      begunTwice: doubles(begun, ({ step, attempt, pid }) => `${step} ${nodes === 1 ? pid : attempt}`),
      recordedTwice: doubles(recorded, ({ step }) => `${step}`),
    }).toEqual({
      job,
      steps: Array.from({ length: STEPS }, (_, i) => i + 1),
      afterRecord: [],
      begunTwice: [],
      recordedTwice: [],
    });
  }
}

const doubles = (lines: readonly Line[], key: (line: Line) => string): readonly Line[] =>
  [...Map.groupBy(lines, key).values()].filter(same => same.length > 1).flat();
