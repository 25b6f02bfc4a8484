import type { RunRow, StepRow, TaskDetail, TimelineRow } from "../../../src/admin/api.ts";
import { bytes, duration, oneLine, plainLine, plural, spaced } from "../../lib/format.ts";
import { isTerminal, isWaiting, stateLook } from "../../lib/states.ts";

/** A row of the timeline: nothing is drawn that the log does not know. */
export interface Row {
  readonly key: string;
  readonly level: 0 | 1 | 2;
  readonly kind:
    | "turn"
    | "run"
    | "step"
    | "progress"
    | "artifact"
    | "question"
    | "wait"
    | "lost"
    | "usage"
    | "end"
    | "cancel"
    | "released";
  readonly icon: string;
  readonly look: string;
  readonly title: string;
  readonly more: string;
  readonly from: number;
  /** undefined: a moment. */
  readonly to: number | undefined;
  /** The event that the row stands for. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly run: number;
  readonly turn: number;
  readonly isCut: boolean;
  readonly label: string;
  /** Of output, instead of a duration. */
  readonly size: string;
}

type Draft = Pick<Row, "kind" | "icon" | "look" | "title"> & Partial<Row>;

const WORDS: Readonly<Record<string, string>> = {
  broken: "the agent threw an error",
  interrupted: "interrupted",
  released: "the server stopped",
  "input-required": "asked",
  "auth-required": "asked for authorization",
};

export function rowsOf(detail: TaskDetail, now: number): readonly Row[] {
  const { entries, runs, steps } = detail;
  const rows: Row[] = [];
  const add = (
    entry: Pick<TimelineRow, "seq" | "lastSeq" | "at" | "run" | "turn">,
    level: Row["level"],
    draft: Draft,
  ): void => {
    rows.push({
      key: `${draft.kind}-${entry.seq}`,
      level,
      more: "",
      from: entry.at,
      to: undefined,
      seq: entry.seq,
      lastSeq: entry.lastSeq,
      run: entry.run,
      turn: entry.turn,
      isCut: false,
      label: "",
      size: "",
      ...draft,
    });
  };
  const stepAt = new Map(steps.map(step => [step.seq, step]));
  const runAt = new Map(runs.map(run => [run.seq, run]));
  const runOf = new Map(runs.map(run => [run.run, run]));
  const lastAts = new Map(
    entries.filter(entry => entry.what !== "message").map(entry => [entry.run, entry.lastAt]),
  );
  const waitEnds = waitEndsOf(entries);
  /** The last entry of each run so far. */
  const lastEntries = new Map<number, TimelineRow>();
  for (const [at, entry] of entries.entries()) {
    const run = runAt.get(entry.seq);
    const before = run && runOf.get(run.run - 1);
    if (before?.outcome === "interrupted")
      addLost(add, entry, before, run as RunRow, lastEntries.get(before.run));
    lastEntries.set(entry.run, entry);
    if (run) addRun(add, entry, run, endOf(run, lastAts.get(run.run), detail, now));
    else if (entry.what === "message" || entry.what === "answer")
      add(entry, entry.what === "message" ? 0 : 1, {
        kind: "turn",
        icon: "user",
        look: "canceled",
        title: entry.what === "message" ? `Turn ${entry.turn}` : "Answer",
        more: plainLine(entry.text, 400),
      });
    else if (isWaiting(entry.what)) {
      const look = stateLook(entry.what).look;
      add(entry, 1, {
        kind: "question",
        icon: look,
        look,
        title: plainLine(entry.text, 200) || stateLook(entry.what).word,
      });
      add(entry, 1, {
        kind: "wait",
        icon: "clock",
        look: "input",
        title: "Waiting for the caller",
        to: waitEnds[at] ?? now,
      });
    } else addEntry(add, entry, stepAt.get(entry.seq));
  }
  return rows;
}

/** For each entry, when the next message, cancel or end of the task follows. */
function waitEndsOf(entries: readonly TimelineRow[]): readonly (number | undefined)[] {
  const ends: (number | undefined)[] = Array(entries.length);
  let next: number | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at] as TimelineRow;
    ends[at] = next;
    if (entry.what === "message" || entry.what === "cancel" || isTerminal(entry.what)) next = entry.at;
  }
  return ends;
}

/** The end of a run, or its last event if no end was recorded. */
function endOf(run: RunRow, lastAt: number | undefined, detail: TaskDetail, now: number): number {
  if (run.outcome === null && detail.phase === "run") return now;
  if (run.outcome === "interrupted" || run.endedAt === null)
    return Math.max(run.startedAt, lastAt ?? run.startedAt);
  return run.endedAt;
}

function addRun(
  add: (entry: TimelineRow, level: Row["level"], draft: Draft) => void,
  entry: TimelineRow,
  run: RunRow,
  to: number,
): void {
  const isCut = run.outcome === "interrupted" || run.outcome === "broken";
  add(entry, 1, {
    kind: "run",
    icon: "play",
    look: isCut ? "failed" : "working",
    title: `Run ${run.run}`,
    more: run.queueMs >= 100 ? `queued for ${Math.round(run.queueMs)} ms` : "",
    to,
    isCut,
    label: run.outcome === null ? "running" : (WORDS[run.outcome] ?? ""),
  });
}

/** The time between the last event of an interrupted run and the run that continues. */
function addLost(
  add: (entry: TimelineRow, level: Row["level"], draft: Draft) => void,
  entry: TimelineRow,
  before: RunRow,
  run: RunRow,
  last: TimelineRow | undefined,
): void {
  const place = {
    ...entry,
    seq: last?.lastSeq ?? before.seq,
    lastSeq: last?.lastSeq ?? before.seq,
    run: before.run,
  };
  add({ ...place, at: last?.lastAt ?? before.startedAt }, 1, {
    key: `lost-${before.run}`,
    kind: "lost",
    icon: "bolt",
    look: "failed",
    title: "Server stopped",
    more: `run ${run.run} continues`,
    to: run.startedAt,
  });
}

function addStep(
  add: (entry: TimelineRow, level: Row["level"], draft: Draft) => void,
  entry: TimelineRow,
  step: StepRow,
): void {
  const look = step.threw ? "failed" : "working";
  // A sleep is recorded when it begins; its name is its length.
  if (step.kind === "sleep")
    return add(entry, 2, {
      kind: "step",
      icon: "clock",
      look,
      title: `Sleep for ${duration(Number(step.name) || 0)}`,
      to: entry.at + (Number(step.name) || 0),
    });
  return add(entry, 2, {
    kind: "step",
    icon: step.called ? "fork" : "step",
    look,
    title: oneLine(step.name, 120),
    more: [step.kind !== "step" && step.kind, step.threw && "threw", step.called && `called ${step.called}`]
      .filter(Boolean)
      .join(", "),
    from: entry.at - step.withinMs,
    to: entry.at,
  });
}

function addEntry(
  add: (entry: TimelineRow, level: Row["level"], draft: Draft) => void,
  entry: TimelineRow,
  step: StepRow | undefined,
): void {
  const text = plainLine(entry.text, 200);
  const { what, output } = entry;
  if (step) return addStep(add, entry, step);
  if (what === "artifact")
    return add(entry, 2, {
      kind: "artifact",
      icon: "text",
      look: "accent",
      title: oneLine(output?.name ?? text, 120) || "artifact",
      more: output && output.chunks > 1 ? plural(output.chunks, "chunk") : "",
      to: entry.lastAt > entry.at ? entry.lastAt : undefined,
      size: output ? bytes(output.bytes) : "",
    });
  if (what === "progress" || what === "working")
    return add(entry, 2, { kind: "progress", icon: "pulse", look: "working", title: text || "Working" });
  if (what === "usage")
    return add(entry, 2, {
      kind: "usage",
      icon: "info",
      look: "canceled",
      title: "Usage",
      more: usageWords(text),
    });
  if (what === "cancel")
    return add(entry, 1, {
      kind: "cancel",
      icon: "canceled",
      look: "canceled",
      title: "Cancel requested",
      more: text,
    });
  if (what === "released")
    return add(entry, 1, {
      kind: "released",
      icon: "bolt",
      look: "input",
      title: "Server stopped; the run was released",
      more: text,
    });
  if (what === "replied")
    return add(entry, 1, {
      kind: "end",
      icon: "chat",
      look: "completed",
      title: "Replied with a message",
      more: text,
    });
  if (isTerminal(what)) {
    const { look, word } = stateLook(what);
    return add(entry, 1, { kind: "end", icon: look, look, title: word, more: text });
  }
  add(entry, 2, { kind: "progress", icon: "step", look: "canceled", title: what, more: text });
}

/** `inputTokens 1,200` as `1,200 input tokens`. */
const usageWords = (text: string): string =>
  text.replace(/([A-Za-z]+) ([\d.,]*\d)/g, (_, name: string, amount: string) => `${amount} ${spaced(name)}`);

export interface Scale {
  readonly x: (at: number) => number;
  readonly ticks: readonly { readonly x: number; readonly label: string }[];
}

const LEFT = 1.5;
const RIGHT = 97;
const FOLDED = 0.06;
const SPAN_MIN_MS = 10;

const startOf = (rows: readonly Row[]): number =>
  rows.reduce((least, row) => Math.min(least, row.from), Number.POSITIVE_INFINITY);

/** Milliseconds from the first row to the end of the last one. */
export function spanOf(rows: readonly Row[]): number {
  const start = startOf(rows);
  return rows.reduce((most, row) => Math.max(most, (row.to ?? row.from) - start), 0);
}

/** Time to percent of the width; waits can be folded to a small part of it, so that work remains visible. */
export function scaleOf(rows: readonly Row[], foldWaits: boolean): Scale {
  const start = startOf(rows);
  const end = start + Math.max(SPAN_MIN_MS, spanOf(rows));
  const waits = foldWaits ? rows.filter(row => row.kind === "wait" || row.kind === "lost") : [];
  const before = waits.reduce<number[]>((sums, row) => {
    sums.push((sums.at(-1) ?? 0) + lengthOf(row));
    return sums;
  }, []);
  const open = Math.max(1, end - start - (before.at(-1) ?? 0));
  const room = 1 - Math.min(0.6, waits.length * FOLDED);
  const each = waits.length > 0 ? (1 - room) / waits.length : 0;
  const part = (at: number): number => {
    // Waits follow one another: all before this one have ended.
    const index = lastIndexBefore(waits, at);
    const wait = waits[index];
    if (!wait) return ((at - start) / open) * room;
    const length = lengthOf(wait);
    const inside = Math.min(at - wait.from, length);
    const inWaits = (before[index - 1] ?? 0) + inside;
    return ((at - start - inWaits) / open) * room + (index + (length > 0 ? inside / length : 1)) * each;
  };
  const x = (at: number): number => LEFT + (RIGHT - LEFT) * Math.max(0, Math.min(1, part(at)));
  return { x, ticks: foldWaits && waits.length > 0 ? [] : ticksOf(start, end, x) };
}

const lengthOf = (row: Row): number => Math.max(0, (row.to ?? row.from) - row.from);

/** The last row that begins before this time; -1: none. */
function lastIndexBefore(rows: readonly Row[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] as Row).from < at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function ticksOf(start: number, end: number, x: (at: number) => number): Scale["ticks"] {
  const span = end - start;
  const unit = 10 ** Math.floor(Math.log10(span / 5 || 1));
  const steps =
    span > 120_000
      ? [30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000, 21_600_000, 86_400_000]
      : [unit, 2 * unit, 5 * unit, 10 * unit];
  const step = steps.find(one => span / one <= 8) ?? span / 6;
  const ticks: { x: number; label: string }[] = [];
  for (let at = 0; at <= span && ticks.length < 12; at += step)
    ticks.push({ x: x(start + at), label: tickLabel(at, step) });
  return ticks;
}

function tickLabel(ms: number, step: number): string {
  if (ms === 0) return "0";
  if (step < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000 && step < 60_000) return `${ms / 1000} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 6000) / 10} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}
