import { useEffect, useMemo, useState } from "preact/hooks";
import type { TaskDetail } from "../../../src/admin/api.ts";
import { dialectTitle, readAdmin, segment } from "../../lib/admin.ts";
import { ApiError, reasonOf } from "../../lib/api.ts";
import { useCrumbs } from "../../lib/crumbs.ts";
import { onChange } from "../../lib/feed.ts";
import { count, duration, oneLine, plural, shortId, spaced, when } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href, inQuery, setQuery } from "../../lib/router.ts";
import { isTerminal, isWaiting } from "../../lib/states.ts";
import { AgentName, Bones, Button, Empty, Id, Note, State, useNow } from "../../parts/basics.tsx";
import { DeliveryTable } from "../../parts/deliveries.tsx";
import { TaskActions } from "./actions.tsx";
import { Dialects } from "./dialects.tsx";
import { Events } from "./events.tsx";
import { Boom, Inspector } from "./inspector.tsx";
import { rowsOf } from "./rows.ts";
import { Timeline } from "./timeline.tsx";

/** The task, again after each change: at most twice a second. */
function useDetail(id: string): {
  readonly detail: TaskDetail | undefined;
  readonly problem: unknown;
  readonly reload: () => void;
} {
  const [detail, setDetail] = useState<TaskDetail>();
  const [problem, setProblem] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void => {
      readAdmin<TaskDetail>(`tasks/${segment(id)}`, {}, abort.signal).then(
        read => {
          setDetail(read);
          setProblem(undefined);
        },
        error => abort.signal.aborted || setProblem(error),
      );
    };
    load();
    const stop = onChange(change => {
      if (change.kind === "gone" ? change.id !== id : change.kind === "task" && change.row.id !== id) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        load();
      }, 500);
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [id, turn]);
  return { detail, problem, reload: () => setTurn(turn + 1) };
}

function Why({ detail }: { readonly detail: TaskDetail }) {
  const { times, task, turns, runs, steps, deliveries } = detail;
  const spans = [
    { name: "running", ms: times.runMs, fill: "seg-run", look: "working", hatch: false },
    { name: "waiting for the caller", ms: times.inputMs, fill: "seg-wait", look: "input", hatch: true },
    { name: "interrupted", ms: times.interruptedMs, fill: "seg-lost", look: "failed", hatch: true },
    { name: "queued", ms: times.queueMs, fill: "seg-queue", look: "submitted", hatch: false },
  ];
  const total = Math.max(
    1,
    spans.reduce((sum, one) => sum + one.ms, 0),
  );
  let x = 0;
  const usage = Object.entries(task.usage ?? {}).map(([name, amount]) => `${count(amount)} ${spaced(name)}`);
  const facts = [
    plural(turns.length, "turn"),
    plural(runs.length, "run"),
    plural(steps.length, "step"),
    ...usage,
    deliveries.length === 0 ? "no webhook" : plural(deliveries.length, "webhook"),
  ];
  return (
    <section class="card why" aria-label="Why">
      <div class="why-words">
        <p>{headline(detail)}</p>
        {!headline(detail).startsWith(detail.why.replace(/\.$/, "")) && <p class="muted">{detail.why}</p>}
        {continued(detail) && <p class="muted">{continued(detail)}</p>}
      </div>
      <div class="spent">
        <svg role="img" aria-label={spans.map(one => `${one.name} ${duration(one.ms)}`).join(", ")}>
          {spans
            .filter(one => one.ms > 0)
            .map(one => {
              const width = (one.ms / total) * 100;
              const rect = (
                <rect
                  key={one.name}
                  class={one.fill}
                  x={`${x}%`}
                  width={`${Math.max(0.4, width - 0.3)}%`}
                  height="14"
                />
              );
              x += width;
              return rect;
            })}
        </svg>
        <ul class="legend">
          {spans.map(one => (
            <li key={one.name} class={`is-${one.look}`}>
              <span class={`key${one.hatch ? " is-hatch" : ""}`} />
              {one.name} <b>{duration(one.ms)}</b>
            </li>
          ))}
        </ul>
        <p class="why-more">{facts.join(", ")}.</p>
      </div>
    </section>
  );
}

/** Which run continued an interrupted one, and where. */
function continued({ runs, steps }: TaskDetail): string {
  const at = runs.findLastIndex(run => run.outcome === "interrupted");
  const next = runs[at + 1];
  if (at < 0 || !next) return "";
  const earlier = new Set(
    runs.filter(run => run.turn === next.turn && run.run < next.run).map(run => run.run),
  );
  const kept = steps.filter(step => step.kind === "step" && earlier.has(step.run)).length;
  const words = `Run ${next.run} continued at event ${next.seq}.`;
  return kept > 0
    ? `${words} ${plural(kept, "recorded step was", "recorded steps were")} not executed again.`
    : words;
}

function headline({ task, runs, times }: TaskDetail): string {
  const interrupted = runs.filter(run => run.outcome === "interrupted").length;
  const after = interrupted > 0 ? ` after ${plural(interrupted, "interrupted run")}` : "";
  const span = task.endedAt === null ? "" : ` in ${duration(task.endedAt - task.createdAt)}`;
  if (task.isReply) return `Replied with a message${span}`;
  if (task.state === "completed") return `Completed${after}${after ? "" : span}`;
  if (isTerminal(task.state))
    return `${task.state[0]?.toUpperCase()}${task.state.slice(1)}${after}${after ? "" : span}`;
  if (isWaiting(task.state))
    return `Waiting for the caller${task.state === "auth-required" ? "'s authorization" : "'s answer"}`;
  if (task.cancelAt !== null) return "Canceling";
  return runs.length === 0 ? "Queued" : `Running for ${duration(times.runMs)}${after}`;
}

export function OneTask({ id }: { readonly id: string }) {
  const { detail, problem, reload } = useDetail(id);
  const now = useNow(detail !== undefined && !isTerminal(detail.task.state), 500);
  const title = detail ? oneLine(detail.task.title, 60) || shortId(id) : shortId(id);
  useCrumbs(
    { label: "Tasks", href: href(["tasks"]) },
    ...(detail ? [{ label: detail.task.agent, href: href(["tasks"], { agent: detail.task.agent }) }] : []),
    title,
  );
  const rows = useMemo(() => (detail ? rowsOf(detail, now) : []), [detail, now]);
  const rowKey =
    inQuery("row") ||
    rows.find(row => row.kind === "lost")?.key ||
    rows.find(row => row.look === "failed")?.key ||
    rows[0]?.key ||
    "";
  const row = rows.find(one => one.key === rowKey) ?? rows[0];
  const seq = Number(inQuery("event")) || row?.seq || 1;
  useKeys([
    {
      key: "e",
      label: "Show the event of the row",
      run: () => document.querySelector(".events")?.scrollIntoView({ block: "start" }),
    },
    { key: "Escape", label: "Back to the list", run: () => go(["tasks"]) },
  ]);
  if (!detail && problem) {
    const isGone = problem instanceof ApiError && problem.status === 404;
    return (
      <Empty icon="tasks" title={isGone ? "Task not found" : "The task could not be read"}>
        <p>
          {isGone ? "There is no task with this id, or it belongs to another caller." : reasonOf(problem)}
        </p>
        {isGone ? (
          <a class="btn" href={href(["tasks"])}>
            All tasks
          </a>
        ) : (
          <Button label="Try again" onClick={reload} />
        )}
      </Empty>
    );
  }
  if (!detail)
    return (
      <div class="page">
        <Bones rows={9} />
      </div>
    );
  const { task } = detail;
  const error = detail.runs.findLast(run => run.error)?.error;
  const errorRun = detail.runs.findLast(run => run.error)?.run ?? 0;
  return (
    <div class="page">
      <header class="task-head">
        <div>
          <div class="task-title">
            <h1>{oneLine(task.title, 160) || `Task ${shortId(task.id)}`}</h1>
            <State state={task.state} pill />
          </div>
          <div class="task-sub">
            <a href={href(["agents", task.agent])}>
              <AgentName name={task.agent} />
            </a>
            <Id id={task.id} what="task id" />
            <span>{oneLine(`${task.principal} of ${task.tenant}`, 60)}</span>
            <span>
              {dialectTitle(task.dialect)}
              {detail.turns[0] ? ` over ${detail.turns[0].binding}` : ""}
            </span>
            <span>
              created <time dateTime={new Date(task.createdAt).toISOString()}>{when(task.createdAt)}</time>
            </span>
          </div>
        </div>
        <TaskActions detail={detail} />
      </header>
      {problem !== undefined && <Note>{reasonOf(problem)}</Note>}
      <Why detail={detail} />
      {error && (
        <div class="boom-wrap">
          <Boom error={error} run={errorRun} />
        </div>
      )}
      <section class="card bench" aria-label="Timeline">
        <Timeline
          detail={detail}
          now={now}
          selected={rowKey}
          onSelect={one => setQuery({ row: one.key, event: String(one.seq) })}
        />
        <Inspector detail={detail} row={row} shownError={errorRun} />
      </section>
      <div class="split">
        <Events
          id={task.id}
          lastSeq={task.events}
          startAt={task.createdAt}
          selected={seq}
          onSelect={to => setQuery({ event: String(to) })}
        />
        <Dialects id={task.id} seq={seq} state={task.state} />
      </div>
      {detail.deliveries.length > 0 && (
        <section class="card task-deliveries" aria-label="Webhooks">
          <div class="card-head">
            <h2>Webhooks</h2>
            <span class="count">{detail.deliveries.length}</span>
          </div>
          <DeliveryTable deliveries={detail.deliveries} onChanged={reload} />
        </section>
      )}
    </div>
  );
}
