import { formatCount } from "../lib/format.ts";
import type { ErrorRecord } from "../model/index.ts";
import type { Timeline } from "./timeline.ts";

/** Why the task is in its state, in one sentence. */
export function describeOutcome(timeline: Timeline): string {
  const { task, phase, attempts, waits, entries, endedAt, isCompacted } = timeline;
  const state = task?.status.state ?? "unknown";
  const since = formatTime(timeline.since);
  const last = attempts.at(-1);
  const interrupted = attempts.filter(one => one.outcome === "interrupted").length;
  const after = interrupted > 0 ? ` after ${formatCount(interrupted, "interrupted run")}` : "";
  if (phase === "queue") return `Queued since ${since}${task?.cancel ? "; a cancel was requested" : ""}.`;
  if (phase === "run") return `Running since ${since} (run ${last?.attempt})${after}.`;
  if (phase === "input") return `Waiting for the caller's answer since ${since}.`;
  if (phase === "auth") return `Waiting for the caller's authorization since ${since}.`;
  if (isCompacted) return `Ended (${state}); its events were deleted.`;
  if (task?.cancel) return `Canceled: ${oneLine(task.cancel.reason ?? "requested by a caller")}.`;
  const message = oneLine(
    entries.findLast(entry => entry.at === endedAt && entry.what === state)?.text ?? "",
  );
  const thrown = last?.error ? ` (thrown: ${formatErrorTitle(last.error)})` : "";
  if (last?.outcome === "broken") return `Failed${after}: ${message}${thrown}`;
  if (state === "failed" || state === "rejected")
    return `${state === "failed" ? "Failed" : "Rejected"} by the agent: ${message}${thrown}`;
  const slow = waits.queue > waits.run ? " It was queued for longer than it ran." : "";
  return `Completed${after}.${slow}`;
}

const formatErrorTitle = ({ name, message, code }: ErrorRecord): string =>
  oneLine(`${name}: ${message}${code === undefined ? "" : ` (${code})`}`);

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** UTC, as in the log of the server. */
const formatTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
