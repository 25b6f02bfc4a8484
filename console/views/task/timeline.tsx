import { useMemo, useRef, useState } from "preact/hooks";
import type { TaskDetail } from "../../../src/admin/api.ts";
import { clock, count, duration } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { Button, Icon, Tabs } from "../../parts/basics.tsx";
import { type Row, rowsOf, type Scale, scaleOf, spanOf } from "./rows.ts";

const SHOWN_MAX = 400;
const FILTERS: Readonly<Record<string, (row: Row) => boolean>> = {
  all: () => true,
  runs: row => row.level < 2,
  words: row => /turn|artifact|question|end|progress/.test(row.kind),
};

function Mark({ row, scale }: { readonly row: Row; readonly scale: Scale }) {
  const from = scale.x(row.from);
  const to = scale.x(row.to ?? row.from);
  const width = `${Math.max(0.25, to - from)}%`;
  const text =
    row.label &&
    (to < 78 ? (
      <text class={row.isCut ? "tx tx-fail" : "tx"} x={`${to}%`} y="50%" dx="8" dy="4">
        {row.label}
      </text>
    ) : (
      <text class={row.isCut ? "tx tx-fail" : "tx"} x={`${from}%`} y="50%" dx="-8" dy="4" text-anchor="end">
        {row.label}
      </text>
    ));
  switch (row.kind) {
    case "run":
      return (
        <>
          <rect
            class={row.isCut ? "run-cut" : "run"}
            x={`${from}%`}
            y="25%"
            width={width}
            height="50%"
            rx="3"
          />
          {text}
        </>
      );
    case "step":
      return <rect class="step" x={`${from}%`} y="32%" width={width} height="36%" rx="3" />;
    case "wait":
      return <rect class="wait" x={`${from}%`} y="25%" width={width} height="50%" rx="3" />;
    case "lost":
      return <rect class="lost" x={`${from}%`} y="25%" width={width} height="50%" rx="3" />;
    case "artifact":
      return (
        <>
          {to - from > 0.4 && (
            <rect class="art-span" x={`${from}%`} y="36%" width={width} height="28%" rx="3" />
          )}
          <circle class="pt" cx={`${from}%`} cy="50%" r="4" />
          {to - from > 0.4 && <circle class="pt" cx={`${to}%`} cy="50%" r="4" />}
        </>
      );
    case "turn":
      return <circle class="pt-user" cx={`${from}%`} cy="50%" r="4" />;
    case "question":
      return <circle class="pt-input" cx={`${from}%`} cy="50%" r="4" />;
    case "end":
      return <circle class={`pt-end is-${row.look}`} cx={`${from}%`} cy="50%" r="4.5" />;
    default:
      return <circle class="pt-prog" cx={`${from}%`} cy="50%" r="4" />;
  }
}

function TimelineRowView({
  row,
  scale,
  isSelected,
  onSelect,
}: {
  readonly row: Row;
  readonly scale: Scale;
  readonly isSelected: boolean;
  readonly onSelect: (row: Row) => void;
}) {
  const span = row.to === undefined ? undefined : row.to - row.from;
  return (
    <tr
      class={`tl-row lv${row.level}${row.kind === "turn" && row.level === 0 ? " tl-turn" : ""}`}
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      data-key={row.key}
      onClick={() => onSelect(row)}
      onKeyDown={event => event.key === "Enter" && onSelect(row)}
    >
      <td class={`tl-name is-${row.look}`}>
        <Icon name={row.icon} />
        <span class="cut">
          {row.kind === "turn" ? <b>{row.title}</b> : row.title}{" "}
          {row.more && <span class="tl-said">{row.more}</span>}
          <span class="sr">
            , {clock(row.from, true)}
            {row.label && `, ${row.label}`}
          </span>
        </span>
      </td>
      <td class="tl-track">
        <svg class="track" aria-hidden="true">
          {scale.ticks.map(tick => (
            <line key={tick.x} class="grid" x1={`${tick.x}%`} x2={`${tick.x}%`} y1="0" y2="100%" />
          ))}
          <Mark row={row} scale={scale} />
        </svg>
      </td>
      <td class="tl-dur">{row.size || (span === undefined ? "" : duration(span))}</td>
    </tr>
  );
}

export interface TimelineProps {
  readonly detail: TaskDetail;
  readonly now: number;
  readonly selected: string;
  readonly onSelect: (row: Row) => void;
}

/** The timeline: a table for screen readers, bars for eyes, arrows and J, K for hands. */
export function Timeline({ detail, now, selected, onSelect }: TimelineProps) {
  const [filter, setFilter] = useState("all");
  const [isWhole, setWhole] = useState(false);
  const all = useMemo(() => rowsOf(detail, now), [detail, now]);
  const waits = all
    .filter(row => row.kind === "wait" || row.kind === "lost")
    .reduce((sum, row) => sum + ((row.to ?? row.from) - row.from), 0);
  const total = spanOf(all);
  const [foldWaits, setFoldWaits] = useState(waits > total * 0.7);
  const shownAll = all.filter(FILTERS[filter] ?? (() => true));
  const rows = isWhole ? shownAll : shownAll.slice(0, SHOWN_MAX);
  const scale = useMemo(() => (all.length > 0 ? scaleOf(all, foldWaits) : undefined), [all, foldWaits]);
  const table = useRef<HTMLTableElement>(null);
  const at = Math.max(
    0,
    rows.findIndex(row => row.key === selected),
  );
  const move = (step: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    onSelect(next);
    requestAnimationFrame(() => {
      const element = table.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(next.key)}"]`);
      element?.focus();
      element?.scrollIntoView({ block: "nearest" });
    });
  };
  useKeys([
    { key: "j", label: "Next row", run: () => move(1) },
    { key: "k", label: "Previous row", run: () => move(-1) },
  ]);
  const onKey = (event: KeyboardEvent): void => {
    const step = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -rows.length,
      End: rows.length,
    }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(step);
  };
  return (
    <div class="tl">
      <div class="card-head">
        <h2>Timeline</h2>
        <span class="count">{duration(total)}</span>
        <span class="grow" />
        <Tabs
          segmented
          label="Rows of the timeline"
          items={[
            { id: "all", label: "All" },
            { id: "runs", label: "Runs" },
            { id: "words", label: "Output" },
          ]}
          chosen={filter}
          onChoose={setFilter}
        />
        {waits > 0 && (
          <Button
            class="hide-phone"
            small
            kind="ghost"
            label={foldWaits ? "Show waits in full" : "Fold waits"}
            pressed={foldWaits}
            onClick={() => setFoldWaits(!foldWaits)}
          />
        )}
      </div>
      {scale && (
        <div class="tl-scroll scroll" tabIndex={-1}>
          <table class="tl-table" ref={table} aria-label="Timeline of the task" onKeyDown={onKey}>
            <thead>
              <tr class="tl-row tl-axis">
                <th scope="col" class="tl-name">
                  Event
                </th>
                <th scope="col" class="tl-track">
                  <span class="sr">Time</span>
                  <svg class="track" aria-hidden="true">
                    {scale.ticks.map(tick => (
                      <text
                        key={tick.x}
                        x={`${tick.x}%`}
                        y="18"
                        text-anchor={tick.x < 4 ? "start" : "middle"}
                      >
                        {tick.label}
                      </text>
                    ))}
                  </svg>
                </th>
                <th scope="col" class="tl-dur">
                  Duration
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(row => (
                <TimelineRowView
                  key={row.key}
                  row={row}
                  scale={scale}
                  isSelected={row.key === selected || (selected === "" && row === rows[0])}
                  onSelect={onSelect}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shownAll.length > rows.length && (
        <div class="tl-foot">
          <button class="link" type="button" onClick={() => setWhole(true)}>
            Show {count(shownAll.length - rows.length)} more rows
          </button>
        </div>
      )}
      {detail.entriesOmitted > 0 && (
        <div class="tl-foot">
          {count(detail.entriesOmitted)} entries in the middle are left out. The events below are complete.
        </div>
      )}
      {detail.isCompacted && (
        <div class="tl-foot">
          Retention has deleted the events of this task: only its last state is known.
        </div>
      )}
      <div class="tl-foot hide-phone">
        <span>
          <kbd>J</kbd> <kbd>K</kbd> next, previous
        </span>
        <span>
          <kbd>E</kbd> its event
        </span>
        <span>A step is drawn from the event before it: the log records when it ended.</span>
      </div>
    </div>
  );
}
