import { useEffect, useRef, useState } from "preact/hooks";
import type { TaskRow } from "../../../src/admin/api.ts";
import { dialectTitle } from "../../lib/admin.ts";
import { ago, count, duration, oneLine, plainLine, shortId, when } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href } from "../../lib/router.ts";
import { isTerminal, isWaiting } from "../../lib/states.ts";
import { AgentName, Bones, Button, Empty, Icon, Note, State, useNow } from "../../parts/basics.tsx";
import type { TaskList } from "./list.ts";

const EXTRA_ROWS = 12;

/** The rows that are on the screen: the others are two empty ones of their height. */
function useWindow(
  total: number,
  rowHeight: number,
): {
  readonly ref: preact.RefObject<HTMLTableSectionElement | null>;
  readonly first: number;
  readonly last: number;
} {
  const ref = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState({ first: 0, last: 60 });
  useEffect(() => {
    let isPlanned = false;
    const measure = (): void => {
      isPlanned = false;
      const top = ref.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - EXTRA_ROWS);
      const last = first + Math.ceil(innerHeight / rowHeight) + 2 * EXTRA_ROWS;
      setRange(before => (before.first === first && before.last === last ? before : { first, last }));
    };
    const plan = (): void => {
      if (isPlanned) return;
      isPlanned = true;
      requestAnimationFrame(measure);
    };
    measure();
    addEventListener("scroll", plan, { passive: true });
    addEventListener("resize", plan);
    return () => {
      removeEventListener("scroll", plan);
      removeEventListener("resize", plan);
    };
  }, [rowHeight]);
  return { ref, first: Math.min(range.first, Math.max(0, total - 1)), last: Math.min(total, range.last) };
}

function useRowHeight(): number {
  const read = (): number =>
    matchMedia("(max-width: 720px)").matches ? 88 : matchMedia("(pointer: coarse)").matches ? 44 : 36;
  const [height, setHeight] = useState(read);
  useEffect(() => {
    const update = (): void => setHeight(read());
    addEventListener("resize", update);
    return () => removeEventListener("resize", update);
  }, []);
  return height;
}

function took(row: TaskRow, now: number): string {
  if (row.endedAt !== null) return duration(row.endedAt - row.createdAt);
  if (isWaiting(row.state)) return `waits ${ago(Math.max(0, now - row.stateAt))}`;
  return row.state === "submitted" && row.runs === 0
    ? "–"
    : duration(Math.floor(Math.max(0, now - row.createdAt) / 1000) * 1000);
}

function Row({
  row,
  isSelected,
  now,
}: {
  readonly row: TaskRow;
  readonly isSelected: boolean;
  readonly now: number;
}) {
  const isCanceling = row.cancelAt !== null && !isTerminal(row.state);
  return (
    <tr aria-selected={isSelected} data-id={row.id}>
      <td>
        <State state={row.state} {...(isCanceling && { text: "Canceling" })} />
      </td>
      <td class="what">
        <a class="task-what" href={href(["tasks", row.id])}>
          <span class="first cut">{plainLine(row.title, 120) || shortId(row.id)}</span>
          {row.isReply && <span class="tag">message</span>}
          <span class="muted cut">{plainLine(row.text)}</span>
        </a>
      </td>
      <td class="c-agent">
        <AgentName name={row.agent} />
      </td>
      <td class="c-x c-m">
        <span class="cut cell">{oneLine(row.principal, 40)}</span>
      </td>
      <td class="c-x c-m muted">{dialectTitle(row.dialect)}</td>
      <td class="c-x num">
        {row.crashes > 0 && (
          <span class="crash" title={`${row.crashes} interrupted`}>
            <Icon name="bolt" title="Interrupted runs:" />
            {row.crashes}
          </span>
        )}
        {row.runs}
      </td>
      <td class="c-x num">{count(row.events)}</td>
      <td class="c-x num" title={new Date(row.createdAt).toISOString()}>
        {when(row.createdAt, now)}
      </td>
      <td class="num c-time">{took(row, now)}</td>
    </tr>
  );
}

export function TaskTable({ list, isFiltered }: { readonly list: TaskList; readonly isFiltered: boolean }) {
  const rows = list.rows.value;
  const [selected, setSelected] = useState(-1);
  const height = useRowHeight();
  const { ref, first, last } = useWindow(rows.length, height);
  const now = useNow(rows.some(row => !isTerminal(row.state)));
  const hasMore = list.hasMore.value;
  useEffect(() => {
    if (hasMore && last > rows.length - 40) void list.more();
  }, [last, rows.length, hasMore, list]);
  const select = (to: number): void => {
    const at = Math.max(0, Math.min(rows.length - 1, to));
    setSelected(at);
    const top = (ref.current?.getBoundingClientRect().top ?? 0) + at * height;
    if (top < 120) scrollBy({ top: top - 120 });
    else if (top + height > innerHeight - 20) scrollBy({ top: top + height - innerHeight + 20 });
  };
  const open = (): void => {
    const row = rows[selected];
    if (row) go(["tasks", row.id]);
  };
  useKeys([
    { key: "j", label: "Next task", run: () => select(selected + 1) },
    { key: "k", label: "Previous task", run: () => select(selected - 1) },
    {
      key: "Enter",
      label: "Open the task",
      run: () =>
        document.activeElement instanceof HTMLAnchorElement ? document.activeElement.click() : open(),
    },
  ]);
  const onClick = (event: MouseEvent): void => {
    const target = event.target as Element;
    const id = target.closest("tr")?.dataset.id;
    if (id && !target.closest("a, button") && getSelection()?.isCollapsed !== false) go(["tasks", id]);
  };
  const fresh = list.fresh.value.length;
  return (
    <div class="card is-bleed">
      {(fresh > 0 || list.isRunning.value) && (
        <div class="fresh" role="status">
          <span class="dot" />
          {fresh > 0 ? (
            <>
              <span>
                {fresh} newer {fresh === 1 ? "task" : "tasks"}
              </span>
              <button class="link" type="button" onClick={() => list.showFresh()}>
                Show
              </button>
              <span class="grow" />
              <span class="hide-phone dim-2">
                The list holds still while you read. <kbd>L</kbd> lets it run.
              </span>
            </>
          ) : (
            <span>
              New tasks are shown as they arrive. <kbd>L</kbd> holds the list still.
            </span>
          )}
        </div>
      )}
      {list.problem.value && (
        <div class="card-body">
          <Note>
            {list.problem.value} <Button small label="Try again" onClick={() => list.reload()} />
          </Note>
        </div>
      )}
      {rows.length > 0 && (
        <table class="table tasks" onClick={onClick} aria-rowcount={rows.length}>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Task</th>
              <th scope="col">Agent</th>
              <th scope="col" class="c-m">
                Caller
              </th>
              <th scope="col" class="c-m">
                Dialect
              </th>
              <th scope="col" class="num">
                Runs
              </th>
              <th scope="col" class="num">
                Events
              </th>
              <th scope="col" class="num">
                Created
              </th>
              <th scope="col" class="num">
                Duration
              </th>
            </tr>
          </thead>
          <tbody ref={ref}>
            {first > 0 && <tr class="spacer" aria-hidden="true" style={{ height: `${first * height}px` }} />}
            {rows.slice(first, last).map((row, at) => (
              <Row key={row.id} row={row} isSelected={first + at === selected} now={now} />
            ))}
            {last < rows.length && (
              <tr
                class="spacer"
                aria-hidden="true"
                style={{ height: `${(rows.length - last) * height}px` }}
              />
            )}
          </tbody>
        </table>
      )}
      {rows.length === 0 && list.isLoading.value && <Bones rows={9} />}
      {rows.length === 0 && !list.isLoading.value && hasMore && (
        <Empty icon="tasks" title="No task matches so far">
          <p>The newest tasks were searched. Older ones can be, too.</p>
          <Button label="Search older tasks" onClick={() => list.more()} />
        </Empty>
      )}
      {rows.length === 0 && !list.isLoading.value && !list.problem.value && !hasMore && (
        <Empty icon="tasks" title={isFiltered ? "No task matches" : "No tasks yet"}>
          <p>
            {isFiltered
              ? "Remove a filter, or use other words."
              : "Send a message to an agent: its task is shown here."}
          </p>
          {isFiltered ? (
            <a class="btn" href={href(["tasks"])}>
              Show all tasks
            </a>
          ) : (
            <a class="btn" href={href(["chat"])}>
              Open the chat
            </a>
          )}
        </Empty>
      )}
      {rows.length > 0 && (
        <div class="pager">
          <span>
            {count(rows.length)} {hasMore ? "loaded" : rows.length === 1 ? "task" : "tasks"}
          </span>
          <span class="grow" />
          {hasMore && (
            <Button
              small
              label={list.isLoading.value ? "Loading" : "Load more"}
              disabled={list.isLoading.value}
              onClick={() => list.more()}
            />
          )}
          {rows.length > 30 && (
            <Button small kind="ghost" icon="up" label="To the top" onClick={() => scrollTo({ top: 0 })} />
          )}
        </div>
      )}
    </div>
  );
}
