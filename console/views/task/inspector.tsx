import { useEffect, useRef, useState } from "preact/hooks";
import type { CurlCommand, EventRow, LogLine, LogPage, TaskDetail } from "../../../src/admin/api.ts";
import type { ErrorRecord } from "../../../src/model/error-record.ts";
import { adminPath, me, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { summaryOf } from "../../lib/event-words.ts";
import { clock, duration, oneLine, visible } from "../../lib/format.ts";
import { tail } from "../../lib/sse.ts";
import { Button, copy, Icon, Pairs } from "../../parts/basics.tsx";
import type { Row } from "./rows.ts";

export function Boom({ error, run }: { readonly error: ErrorRecord; readonly run: number }) {
  return (
    <div class="boom">
      <header>
        <p class="boom-title">
          {visible(error.name)}: {visible(error.message)}
        </p>
        <span class="dim">
          run {run}
          {error.code ? `, code ${error.code}` : ""}; only operators see this
        </span>
      </header>
      {error.stack && (
        <pre class="code" tabIndex={0}>
          {visible(error.stack)}
        </pre>
      )}
      {error.causes?.map((cause, at) => (
        <pre key={at} class="code" tabIndex={0}>
          Caused by {visible(cause.stack ?? `${cause.name}: ${cause.message}`)}
        </pre>
      ))}
    </div>
  );
}

/** Reads the stream from an event on, in the page, as a client would. */
function Resume({ id, after }: { readonly id: string; readonly after: number }) {
  const [events, setEvents] = useState<readonly EventRow[]>();
  const [curl, setCurl] = useState("");
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    const reading = new AbortController();
    setEvents(undefined);
    readAdmin<{ commands: readonly CurlCommand[] }>(
      `tasks/${segment(id)}/curl`,
      { after: String(after) },
      reading.signal,
    ).then(
      ({ commands }) =>
        setCurl(
          (
            commands.find(one => one.name === "v1" && one.action === "subscribe") ??
            commands.find(one => one.action === "subscribe")
          )?.command ?? "",
        ),
      () => {},
    );
    return () => {
      reading.abort();
      abort.current?.abort();
    };
  }, [id, after]);
  const start = (): void => {
    abort.current?.abort();
    const control = new AbortController();
    abort.current = control;
    setEvents([]);
    const read: EventRow[] = [];
    void tail({
      path: () =>
        adminPath(`tasks/${segment(id)}/events/stream`, { after: String(read.at(-1)?.seq ?? after) }),
      after: String(after),
      signal: control.signal,
      onEvent: ({ event, data }) => {
        if (event === "end") return;
        read.push(JSON.parse(data) as EventRow);
        if (read.length >= 100) control.abort();
        setEvents(read.slice(-100));
      },
      again: () => false,
    }).catch(() => {});
  };
  return (
    <section>
      <h4>Resume the stream after event {after}</h4>
      {curl && (
        <pre class="code is-round" tabIndex={0}>
          {curl}
        </pre>
      )}
      <div class="actions">
        <Button small icon="play" label="Resume here" onClick={start} />
        <Button
          small
          icon="copy"
          label="Copy as curl"
          disabled={!curl}
          onClick={() => copy(curl, "Copied as curl")}
        />
      </div>
      {events && (
        <ol class="evs" aria-label="Resumed events" aria-live="polite">
          {events.length === 0 && <li class="dim">No events after {after} yet.</li>}
          {events.map(event => (
            <li key={event.seq} class="ev">
              <span class="seq">{event.seq}</span>
              <span class="cut">
                <span class="mono">{event.type}</span> <span class="dim">{summaryOf(event, 80)}</span>
              </span>
              <span />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Logs({ id, run }: { readonly id: string; readonly run: number }) {
  const [page, setPage] = useState<LogPage>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    readAdmin<LogPage>(`tasks/${segment(id)}/logs`, {}, abort.signal).then(
      setPage,
      error => abort.signal.aborted || setProblem(reasonOf(error)),
    );
    return () => abort.abort();
  }, [id, run]);
  const lines = page?.lines.filter(line => run === 0 || line.run === null || line.run === run) ?? [];
  return (
    <section>
      <h4>{run > 0 ? `Log of run ${run}` : "Log of the task"}</h4>
      {problem && <p class="dim">{problem}</p>}
      {page && lines.length === 0 && (
        <p class="dim">
          Node {page.node} has no log lines of this {run > 0 ? "run" : "task"}: lines are kept in memory, on
          the node that wrote them.
        </p>
      )}
      <ol class="log">
        {lines.slice(-60).map((line, at) => (
          <LogLineView key={at} line={line} />
        ))}
      </ol>
    </section>
  );
}

export function LogLineView({ line }: { readonly line: LogLine }) {
  const facts = Object.entries(line.facts).filter(([name]) => !/^(?:task|run|agent)$/.test(name));
  return (
    <li>
      <span class="dim" title={clock(line.at, true)}>
        {clock(line.at, true).slice(6)}
      </span>
      <span class={`lvl-${line.level}`}>{line.level}</span>
      <span>
        {visible(line.text.slice(0, 500))}
        {facts.length > 0 && (
          <span class="dim">
            {" "}
            {visible(
              facts
                .map(
                  ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
                )
                .join(" ")
                .slice(0, 400),
            )}
          </span>
        )}
      </span>
    </li>
  );
}

/** What the selected row of the timeline means, and what can be done from there. */
export function Inspector({
  detail,
  row,
  shownError,
}: {
  readonly detail: TaskDetail;
  readonly row: Row | undefined;
  readonly shownError: number;
}) {
  if (!row) return <aside class="inspect" aria-label="Selected row" />;
  const run = detail.runs.find(one => one.run === row.run);
  const step = detail.steps.find(one => one.seq === row.seq);
  const words = describe(row, detail);
  return (
    <aside class="inspect" aria-label="Selected row">
      <section class={`is-${row.look}`}>
        <h3>
          <span class="st">
            <Icon name={row.icon} />
          </span>
          {row.title}
        </h3>
        <p class="muted">{words}</p>
        <Pairs
          rows={[
            ["event", row.lastSeq > row.seq ? `${row.seq} to ${row.lastSeq}` : String(row.seq)],
            ["time", clock(row.from, true)],
            row.to !== undefined && [
              "duration",
              `${row.kind === "step" ? "at most " : ""}${duration(row.to - row.from)}`,
            ],
            row.size !== "" && ["size", `about ${row.size}`],
            row.run > 0 && ["run", String(row.run)],
            ["turn", String(row.turn)],
            row.kind === "lost" && ["recorded steps", stepNames(row, detail)],
            step?.called ? ["called", step.called] : undefined,
          ]}
        />
      </section>
      {run?.error && run.run !== shownError && (row.kind === "run" || row.kind === "end") && (
        <section>
          <Boom error={run.error} run={run.run} />
        </section>
      )}
      <Resume id={detail.task.id} after={row.seq} />
      {me.value?.isOperator && <Logs id={detail.task.id} run={row.run} />}
    </aside>
  );
}

const STEPS_SHOWN_MAX = 8;

/** The steps of the turn that were recorded before the run was interrupted. */
function stepNames({ turn, seq }: Row, { runs, steps }: TaskDetail): string {
  const turnOf = new Map(runs.map(run => [run.run, run.turn]));
  const names = steps
    .filter(step => step.kind === "step" && step.seq <= seq && turnOf.get(step.run) === turn)
    .map(step => oneLine(step.name, 60));
  if (names.length <= STEPS_SHOWN_MAX) return names.join(", ") || "none";
  return `${names.slice(0, STEPS_SHOWN_MAX).join(", ")} and ${names.length - STEPS_SHOWN_MAX} more`;
}

function describe(row: Row, detail: TaskDetail): string {
  const run = detail.runs.find(one => one.run === row.run);
  switch (row.kind) {
    case "turn":
      return row.more || "A message of the caller began this turn.";
    case "run":
      return run?.outcome === "interrupted"
        ? `Run ${row.run} has no end in the log: its process stopped. The next run continued from the log.`
        : run?.outcome === "broken"
          ? "The agent threw an error."
          : run?.outcome === null
            ? "The run is under way."
            : `The run ended: ${run?.outcome ?? "unknown"}.`;
    case "lost":
      return `The last event of run ${row.run} was recorded at ${clock(row.from, true)}. The task continued ${duration((row.to ?? row.from) - row.from)} later. Recorded steps were not executed again.`;
    case "wait":
      return "The task waits for its caller. It needs no process and no connection to wait.";
    case "step":
      return "A recorded step: a later run of this turn uses its result and does not execute it again.";
    case "artifact":
      return "Output of the agent.";
    case "question":
      return "The agent ended its run with a question.";
    default:
      return row.more;
  }
}
