import { expect, test } from "vitest";
import type { Until } from "../model/index.ts";
import { v1 } from "../protocol/a2a-v1/client.ts";
import { RemoteError, UnavailableError } from "./errors.ts";
import type { RemoteAgent } from "./open.ts";
import { readResumable } from "./resume.ts";
import type { ReceivedResponse, RemoteState, TaskRef } from "./types.ts";

const place = { taskId: "t", contextId: "c" };
const status = (state: RemoteState, eventId?: string): ReceivedResponse => ({
  item: { kind: "status", ...place, state },
  raw: state,
  ...(eventId !== undefined && { eventId }),
});
const snapshot = (state: RemoteState): ReceivedResponse => ({
  item: { kind: "task", task: { id: "t", contextId: "c", state, artifacts: [], history: [] } },
  raw: `task ${state}`,
});

type Part = ReceivedResponse | Error;
async function* playing(parts: readonly Part[]): AsyncGenerator<ReceivedResponse> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

/** Follows a first stream and then, in turn, the further ones; the last of them again and again. */
async function followed(
  first: readonly Part[],
  further: readonly (readonly Part[])[],
  got?: RemoteState,
  isFollowUp = false,
  until: Until = "asked",
) {
  const asked: (string | undefined)[] = [];
  const waits: number[] = [];
  const signal = new AbortController().signal;
  const agent = {
    endpoint: { url: "http://x/", dialect: v1 },
    subscribe: (_task: TaskRef, eventId: string | undefined) =>
      playing(further[Math.min(asked.push(eventId), further.length) - 1] ?? []),
    get: async () => ({ ...snapshot(got ?? "working"), task: { ...TASK, state: got ?? "working" } }),
  } as unknown as RemoteAgent;
  const sleep = async (ms: number) => void waits.push(ms);
  const parts = {
    agent,
    until,
    isFollowUp,
    delaysMs: [1, 2, 3],
    signal,
    sleep,
    onRetry: () => undefined,
  };
  const seen: unknown[] = [];
  const error = await (async () => {
    for await (const received of readResumable(parts, playing(first), {})) seen.push(received.raw);
  })().catch(caught => caught as Error);
  return { seen, asked, waits, error: error?.message };
}
const TASK = { id: "t", contextId: "c", artifacts: [], history: [] };
const lost = new UnavailableError("The connection broke", "reset");

test("a stream that reaches its end is not resumed", async () => {
  const { seen, asked } = await followed([snapshot("working"), status("completed")], []);
  expect({ seen, asked }).toEqual({ seen: ["task working", "completed"], asked: [] });
});

test("reading stops at a question, even if the server keeps the stream open", async () => {
  const { seen } = await followed([status("input-required"), status("working")], []);
  expect(seen).toEqual(["input-required"]);
});

test("a follow-up that begins with the task as it was is read further", async () => {
  const first = [snapshot("input-required"), status("working"), status("completed")];
  const { seen } = await followed(first, [], undefined, true);
  expect(seen).toEqual(["task input-required", "working", "completed"]);
});

test("where every event is the whole task, reading stops at the question too", async () => {
  const { seen } = await followed([snapshot("working"), snapshot("input-required"), lost], []);
  expect(seen).toEqual(["task working", "task input-required"]);
  const asksAgain = [snapshot("input-required"), snapshot("working"), snapshot("input-required"), lost];
  const followUp = await followed(asksAgain, [], undefined, true);
  expect(followUp.seen).toEqual(["task input-required", "task working", "task input-required"]);
});

test("a stream that the server closes at auth-required has ended", async () => {
  const { seen, asked } = await followed([status("auth-required")], []);
  expect({ seen, asked }).toEqual({ seen: ["auth-required"], asked: [] });
});

test("a lost stream is resumed after the last event id", async () => {
  const { seen, asked, waits } = await followed(
    [status("working", "7"), status("working"), lost],
    [[status("completed", "9")]],
  );
  expect({ seen, asked, waits }).toEqual({
    seen: ["working", "working", "completed"],
    asked: ["7"],
    waits: [1],
  });
});

test("reading fails after the last retry", async () => {
  const { asked, waits, error } = await followed([status("working"), lost], [[lost]]);
  expect({ asked: asked.length, waits }).toEqual({ asked: 3, waits: [1, 2, 3] });
  expect(error).toBe("The stream of http://x/ was lost (reset); gave up after 3 tries");
});

test("progress resets the retries, a repeated snapshot does not", async () => {
  const news = await followed([status("working"), lost], [[lost], [status("working"), lost], [lost]]);
  expect(news.waits).toEqual([1, 2, 1, 2, 3]);
  const repeated = await followed([snapshot("working"), lost], [[snapshot("working")]]);
  expect(repeated.waits).toEqual([1, 2, 3]);
});

test("a task that has ended meanwhile is read whole", async () => {
  const { seen, error } = await followed(
    [status("working"), lost],
    [[new RemoteError("unsupported-operation", "it has ended")]],
    "completed",
  );
  expect({ seen: seen.length, error }).toEqual({ seen: 2, error: undefined });
});

test("another error is not retried", async () => {
  const { error } = await followed(
    [status("working"), lost],
    [[new RemoteError("task-not-found", "no such task")]],
  );
  expect(error).toBe("no such task");
});

test("a stream that is lost before the task id is known is not resumed", async () => {
  const { asked, error } = await followed([lost], []);
  expect({ asked, error }).toEqual({ asked: [], error: "The connection broke" });
});

test("a reader until the end waits for the answers of others: over lost connections, and where streams end at a question", async () => {
  const after = await followed(
    [status("input-required", "3"), lost],
    [[status("working", "4"), status("completed", "5")]],
    undefined,
    false,
    "terminal",
  );
  expect(after).toMatchObject({ seen: ["input-required", "working", "completed"], asked: ["3"], waits: [1] });
  const asks = [snapshot("input-required")];
  const polled = await followed(
    asks,
    [asks, asks, asks, asks, [snapshot("working"), status("completed")]],
    undefined,
    false,
    "terminal",
  );
  // More often than there are retries.
  expect(polled.waits).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
  expect(polled.seen.slice(-2)).toEqual(["task working", "completed"]);
});
