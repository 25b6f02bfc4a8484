/** Prints what happens on a server in development, in lines that fit the terminal. */
import type { Output } from "../terminal/output.ts";
import { escapeControls, type OutputStream, oneLine, paint, type Terminal } from "../terminal/terminal.ts";
import { formatDuration } from "../terminal/text.ts";
import { type Activity, describeException, listFrames } from "./development.ts";

export interface ActivityLines {
  show(activity: Activity): void;
  /** An exception outside of every run. */
  showStray(error: unknown): void;
}

type Style = Parameters<typeof paint>[1];
const STYLES: Readonly<Record<string, Style>> = {
  completed: "green",
  replied: "green",
  ok: "green",
  "input-required": "yellow",
  "auth-required": "yellow",
  working: "cyan",
  submitted: "cyan",
  canceled: "yellow",
  stopped: "yellow",
};

const AGENT_CHARS = 10;
const OUTCOME_CHARS = 14;
const MS_CHARS = 7;
/** Room for a whole task id. */
const WIDE_COLUMNS = 100;
/** The end of an id differs most. */
const SHORT_ID_CHARS = 8;

export function createActivityLines(
  terminal: Pick<Terminal, "out" | "now" | "cwd">,
  output: Output,
  json: boolean,
): ActivityLines {
  const { out, now, cwd } = terminal;
  const showError = (error: unknown): void => {
    output.paintedLine(`         ${paint(out, "red", escapeControls(describeException(error, cwd)))}`);
    const frames = error instanceof Error ? listFrames(error, cwd).slice(1) : [];
    for (const frame of frames)
      output.paintedLine(paint(out, "dim", `           at ${escapeControls(frame)}`));
  };
  return {
    show(activity) {
      const { error, ms, ...facts } = activity;
      const shown = error === undefined ? {} : { error: describeException(error, cwd) };
      if (json) return output.json(toJson({ ...facts, ms: Math.round(ms), ...shown }));
      output.paintedLine(`${paint(out, "dim", clock(now()))} ${formatActivity(activity, out)}`);
      if (error !== undefined) showError(error);
    },
    showStray(error) {
      if (json) return output.json({ kind: "exception", error: describeException(error, cwd) });
      output.paintedLine(
        `${paint(out, "dim", clock(now()))} an exception outside of every run; the server continues`,
      );
      showError(error);
    },
  };
}

const toJson = (facts: object) => JSON.parse(JSON.stringify(facts));

/** Local time: the author looks at it now. */
const clock = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);

function formatActivity({ kind, agent, detail, taskId, outcome, ms }: Activity, out: OutputStream): string {
  const id = toShownId(taskId, out);
  const state = paint(out, STYLES[outcome] ?? "red", outcome.padEnd(OUTCOME_CHARS));
  const columns = [
    kind.padEnd(4),
    oneLine(agent).padEnd(AGENT_CHARS),
    state,
    formatDuration(ms).padStart(MS_CHARS),
  ];
  return `${columns.join(" ")}  ${[oneLine(detail), id].filter(text => text !== "").join("  ")}`.trimEnd();
}

function toShownId(taskId: string | undefined, out: OutputStream): string {
  if (taskId === undefined) return "";
  const isNarrow = out.tty && out.columns < WIDE_COLUMNS;
  return paint(out, "dim", isNarrow ? `…${taskId.slice(-SHORT_ID_CHARS)}` : taskId);
}
