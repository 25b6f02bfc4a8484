import { useEffect, useState } from "preact/hooks";
import type { LogPage } from "../../../src/admin/api.ts";
import type { LimitRow, OptionRow } from "../../../src/admin/api-server.ts";
import { readAdmin } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { bytes, count, duration, visible } from "../../lib/format.ts";
import { Bones, Empty, Note, Search, Tabs } from "../../parts/basics.tsx";
import { LogLineView } from "../task/inspector.tsx";

function useRead<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
  everyMs = 0,
): { readonly read: T | undefined; readonly problem: string } {
  const [read, setRead] = useState<T>();
  const [problem, setProblem] = useState("");
  const key = JSON.stringify(query);
  useEffect(() => {
    const abort = new AbortController();
    const load = (): void =>
      void readAdmin<T>(path, query, abort.signal).then(
        setRead,
        error => abort.signal.aborted || setProblem(reasonOf(error)),
      );
    load();
    const timer = everyMs > 0 ? setInterval(load, everyMs) : undefined;
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [path, key]);
  return { read, problem };
}

/** A number in the unit at the end of its name. */
function inUnit(name: string, value: number): string {
  if (name.endsWith("Ms")) return duration(value);
  if (/Bytes(?:Max)?$/.test(name)) return bytes(value);
  return count(value);
}

export function Limits() {
  const { read, problem } = useRead<{ limits: readonly LimitRow[] }>("server/limits", {}, 5000);
  const [find, setFind] = useState("");
  if (problem) return <Note>{problem}</Note>;
  if (!read) return <Bones />;
  const rows = read.limits
    .filter(one => one.name.toLowerCase().includes(find.toLowerCase()))
    .toSorted((one, other) => Number(other.used !== null) - Number(one.used !== null));
  return (
    <>
      <div class="filters">
        <Search label="Search limits" value={find} onInput={setFind} />
      </div>
      <section class="card">
        <table class="table limits">
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col">In use</th>
              <th scope="col" class="num">
                Now
              </th>
              <th scope="col" class="num">
                Value
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(one => (
              <tr key={one.name}>
                <td class="mono">{one.name}</td>
                <td class="lim">
                  {one.used !== null && (
                    <svg
                      class="gauge"
                      role="img"
                      aria-label={`${Math.round((one.used / Math.max(1, one.value)) * 100)} %`}
                    >
                      <rect class="hbar-bg" width="100%" height="6" rx="3" />
                      <rect
                        class={one.used / one.value > 0.8 ? "gauge-hot" : "hbar"}
                        width={`${Math.min(100, (one.used / Math.max(1, one.value)) * 100)}%`}
                        height="6"
                        rx="3"
                      />
                    </svg>
                  )}
                </td>
                <td class="num">{one.used === null ? "" : inUnit(one.name, one.used)}</td>
                <td class="num">{inUnit(one.name, one.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

export function Configuration() {
  const { read, problem } = useRead<{ options: readonly OptionRow[] }>("server/config");
  const [find, setFind] = useState("");
  const [which, setWhich] = useState("set");
  if (problem) return <Note>{problem}</Note>;
  if (!read) return <Bones />;
  const rows = read.options.filter(
    one =>
      (which === "all" || !one.isDefault) &&
      `${one.name} ${one.help}`.toLowerCase().includes(find.toLowerCase()),
  );
  return (
    <>
      <div class="filters">
        <Search label="Search options" value={find} onInput={setFind} />
        <Tabs
          segmented
          label="Options"
          items={[
            { id: "set", label: "Set" },
            { id: "all", label: "All" },
          ]}
          chosen={which}
          onChoose={setWhich}
        />
      </div>
      <section class="card">
        {rows.length === 0 ? (
          <Empty title="No option">
            <p>{which === "set" ? "Every option has its default." : "No option contains these words."}</p>
          </Empty>
        ) : (
          <table class="table options">
            <thead>
              <tr>
                <th scope="col">Option</th>
                <th scope="col">Value</th>
                <th scope="col">Purpose</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(one => (
                <tr key={one.name}>
                  <td class="mono">
                    {one.name}
                    {!one.isDefault && which !== "set" && <span class="tag">set</span>}
                  </td>
                  <td class="mono option-value">
                    {one.value === null ? (
                      <span class="dim">not set</span>
                    ) : (
                      visible(typeof one.value === "string" ? one.value : JSON.stringify(one.value))
                    )}
                  </td>
                  <td class="muted option-help">
                    {one.help
                      .split("`")
                      .map((text, part) => (part % 2 === 1 ? <code key={part}>{text}</code> : text))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </>
  );
}

export function Logs() {
  const [level, setLevel] = useState("info");
  const { read, problem } = useRead<LogPage>("logs", { level, max: "500" }, 2000);
  return (
    <>
      <div class="filters">
        <Tabs
          segmented
          label="Lowest level"
          items={["debug", "info", "warn", "error"].map(id => ({ id, label: id }))}
          chosen={level}
          onChoose={setLevel}
        />
        <span class="dim">
          {read &&
            `node ${read.node}, the newest first${read.isShortened ? "; older lines are dropped" : ""}`}
        </span>
      </div>
      {problem && <Note>{problem}</Note>}
      <section class="card log-card scroll" tabIndex={0} role="group" aria-label="Log lines">
        {read?.lines.length === 0 && (
          <Empty title="No log lines">
            <p>The node keeps its newest lines in memory.</p>
          </Empty>
        )}
        <ol class="log">
          {read?.lines.toReversed().map((line, at) => (
            <LogLineView key={`${line.at} ${at}`} line={line} />
          ))}
        </ol>
      </section>
    </>
  );
}
