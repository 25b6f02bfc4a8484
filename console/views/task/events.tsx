import { useEffect, useRef, useState } from "preact/hooks";
import type { EventPage, EventRow } from "../../../src/admin/api.ts";
import { readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { summaryOf } from "../../lib/event-words.ts";
import { count, duration } from "../../lib/format.ts";

const ROW = 30;
const PAGE = 200;
const PAGES_MAX = 60;

/** Events by number, read in pages as they come into view: a log may have a hundred thousand of them. */
function useEvents(
  id: string,
  lastSeq: number,
): {
  readonly at: (seq: number) => EventRow | undefined;
  readonly need: (from: number, to: number) => void;
  readonly problem: string;
  readonly compacted: number;
} {
  const pages = useRef(new Map<number, readonly EventRow[]>());
  const busy = useRef(new Set<number>());
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState("");
  const [compacted, setCompacted] = useState(0);
  useEffect(() => {
    pages.current.clear();
    redraw(n => n + 1);
  }, [id]);
  const load = (page: number): void => {
    busy.current.add(page);
    readAdmin<EventPage>(`tasks/${segment(id)}/events`, { after: String(page * PAGE), max: String(PAGE) })
      .then(
        ({ events, compactedSeq }) => {
          if (pages.current.size >= PAGES_MAX) pages.current.delete(pages.current.keys().next().value ?? 0);
          pages.current.set(page, events);
          setCompacted(compactedSeq);
          setProblem("");
        },
        error => setProblem(reasonOf(error)),
      )
      .finally(() => {
        busy.current.delete(page);
        redraw(n => n + 1);
      });
  };
  const need = (from: number, to: number): void => {
    for (let page = Math.floor((from - 1) / PAGE); page <= Math.floor((to - 1) / PAGE); page++) {
      const known = pages.current.get(page);
      const isComplete =
        known && (known.length >= PAGE || (known.at(-1)?.seq ?? 0) >= Math.min(lastSeq, (page + 1) * PAGE));
      if (!isComplete && !busy.current.has(page) && page >= 0) load(page);
    }
  };
  const at = (seq: number): EventRow | undefined =>
    pages.current.get(Math.floor((seq - 1) / PAGE))?.find(event => event.seq === seq);
  return { at, need, problem, compacted };
}

export function Events({
  id,
  lastSeq,
  startAt,
  selected,
  onSelect,
}: {
  readonly id: string;
  readonly lastSeq: number;
  readonly startAt: number;
  readonly selected: number;
  readonly onSelect: (seq: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { at, need, problem, compacted } = useEvents(id, lastSeq);
  const [top, setTop] = useState(0);
  const first = Math.max(1, Math.floor(top / ROW) - 8);
  const last = Math.min(lastSeq, first + 40);
  useEffect(() => need(first, last), [first, last, lastSeq]);
  useEffect(() => {
    const element = box.current;
    if (!element || selected === 0) return;
    const y = (selected - 1) * ROW;
    if (y < element.scrollTop || y > element.scrollTop + element.clientHeight - 2 * ROW)
      element.scrollTop = Math.max(0, y - element.clientHeight / 2);
  }, [selected]);
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -lastSeq, End: lastSeq }[
      event.key
    ];
    if (step === undefined) return;
    event.preventDefault();
    onSelect(Math.max(1, Math.min(lastSeq, selected + step)));
  };
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return (
    <section class="card events" aria-label="Events">
      <div class="card-head">
        <h2>Events</h2>
        <span class="count">{count(lastSeq)}</span>
        <span class="grow" />
        <form
          onSubmit={event => {
            event.preventDefault();
            const input = event.currentTarget.elements.namedItem("seq") as HTMLInputElement;
            onSelect(Math.max(1, Math.min(lastSeq, Number(input.value) || 1)));
          }}
        >
          <input
            class="field ev-find"
            name="seq"
            inputMode="numeric"
            aria-label="Go to an event by its number"
            placeholder="Go to number"
          />
        </form>
      </div>
      {problem && (
        <p class="card-body is-wrong" role="status">
          {problem}
        </p>
      )}
      <div
        class="ev-scroll scroll"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Events of the task"
        onScroll={event => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKey}
      >
        <table class="table ev-table" aria-rowcount={lastSeq}>
          <colgroup>
            <col class="w-seq" />
            <col class="w-type" />
            <col />
            <col class="w-time" />
          </colgroup>
          <thead class="sr">
            <tr>
              <th scope="col">Number</th>
              <th scope="col">Type</th>
              <th scope="col">Content</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {first > 1 && (
              <tr class="spacer" aria-hidden="true" style={{ height: `${(first - 1) * ROW}px` }} />
            )}
            {rows.map(seq => {
              const event = at(seq);
              return (
                <tr
                  key={seq}
                  aria-selected={seq === selected}
                  aria-rowindex={seq}
                  onClick={() => onSelect(seq)}
                >
                  <td class="seq">{seq}</td>
                  <td class="type">{event?.type ?? (seq <= compacted ? "deleted" : "")}</td>
                  <td class="what cut muted">
                    {event ? summaryOf(event) : seq <= compacted ? "by retention" : ""}
                  </td>
                  <td class="num dim">{event ? `+${duration(event.at - startAt)}` : ""}</td>
                </tr>
              );
            })}
            {last < lastSeq && (
              <tr class="spacer" aria-hidden="true" style={{ height: `${(lastSeq - last) * ROW}px` }} />
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
