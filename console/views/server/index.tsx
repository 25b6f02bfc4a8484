import { useEffect, useState } from "preact/hooks";
import type { Figures, FiguresPage, ServerInfo } from "../../../src/admin/api-server.ts";
import { dialectTitle, me, readAdmin } from "../../lib/admin.ts";
import { reasonOf, urlOf } from "../../lib/api.ts";
import { useCrumbs } from "../../lib/crumbs.ts";
import { ago, bytes, count, duration, oneLine, plural } from "../../lib/format.ts";
import { chosenInQuery, href, setQuery } from "../../lib/router.ts";
import { Bones, Button, Empty, Icon, Note, Tabs } from "../../parts/basics.tsx";
import { Chart, Spark } from "./chart.tsx";
import { Configuration, Limits, Logs } from "./lists.tsx";
import { Tokens } from "./tokens.tsx";

const EVERY_MS = 5000;
const STORES = { memory: "memory", sqlite: "SQLite", postgres: "Postgres" } as const;
const storeName = (info: ServerInfo): string => STORES[info.store.kind];

function useServer(range: string): {
  readonly info: ServerInfo | undefined;
  readonly figures: FiguresPage | undefined;
  readonly problem: string;
  readonly reload: () => void;
} {
  const [info, setInfo] = useState<ServerInfo>();
  const [figures, setFigures] = useState<FiguresPage>();
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const load = (): void => {
      Promise.all([
        readAdmin<ServerInfo>("server", {}, abort.signal),
        readAdmin<FiguresPage>("server/figures", { range }, abort.signal),
      ]).then(
        ([server, page]) => {
          setInfo(server);
          setFigures(page);
          setProblem("");
        },
        error => abort.signal.aborted || setProblem(reasonOf(error)),
      );
    };
    load();
    const timer = setInterval(() => document.hidden || load(), EVERY_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [range, turn]);
  return { info, figures, problem, reload: () => setTurn(turn + 1) };
}

export function Server() {
  const range = chosenInQuery("range", ["1h", "24h"]);
  const tab = chosenInQuery("tab", ["figures", "nodes", "limits", "config", "tokens", "log"]);
  useCrumbs("Server");
  if (me.value && !me.value.isOperator)
    return (
      <Empty icon="server" title="For operators">
        <p>
          Figures, nodes, configuration and tokens need a token with the permission admin. You are signed in
          as {oneLine(me.value.principal, 40)}.
        </p>
      </Empty>
    );
  return <Operated range={range} tab={tab} />;
}

function Operated({ range, tab }: { readonly range: string; readonly tab: string }) {
  const { info, figures, problem, reload } = useServer(range);
  const bad = Object.entries(info?.checks ?? {}).filter(([, state]) => !/^ok\b/i.test(state));
  return (
    <div class="page">
      <header class="page-head">
        <h1>Server</h1>
        {info && (
          <span class={`st st-pill is-${info.isReady ? "completed" : "failed"}`}>
            <Icon name={info.isReady ? "completed" : "failed"} />
            {info.isReady ? "Healthy" : "Not ready"}
          </span>
        )}
        <span class="lead">
          {info
            ? `Dragoman ${info.version} on Node ${info.nodeVersion.replace(/^v/, "")}, ${storeName(info)}, up ${duration(Math.max(0, Date.now() - info.startedAt))}`
            : ""}
        </span>
        <span class="grow" />
        {tab === "figures" && (
          <Tabs
            segmented
            label="Time"
            items={[
              { id: "1h", label: "1 h" },
              { id: "24h", label: "24 h" },
            ]}
            chosen={range}
            onChoose={id => setQuery({ range: id })}
          />
        )}
        <a class="btn" href={urlOf("metrics").href} target="_blank" rel="noopener">
          /metrics
        </a>
      </header>
      <Tabs
        class="views"
        label="Server"
        items={[
          { id: "figures", label: "Figures" },
          { id: "nodes", label: "Nodes", count: info?.nodes.length },
          { id: "limits", label: "Limits" },
          { id: "config", label: "Configuration" },
          { id: "tokens", label: "Tokens" },
          { id: "log", label: "Log" },
        ]}
        chosen={tab}
        onChoose={id => setQuery({ tab: id })}
      />
      {problem && (
        <Note>
          {problem} <Button small label="Try again" onClick={reload} />
        </Note>
      )}
      {bad.length > 0 && (
        <Note look="input">{bad.map(([name, state]) => `${name}: ${state}`).join("; ")}</Note>
      )}
      {tab === "figures" &&
        (info && figures ? <FigureCards info={info} figures={figures} /> : !problem && <Bones rows={9} />)}
      {tab === "nodes" && info && <Nodes info={info} />}
      {tab === "limits" && <Limits />}
      {tab === "config" && <Configuration />}
      {tab === "tokens" && <Tokens />}
      {tab === "log" && <Logs />}
    </div>
  );
}

const sum = (samples: readonly Figures[], pick: (one: Figures) => number): number =>
  samples.reduce((total, one) => total + pick(one), 0);
const ms = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : value < 10 ? value.toFixed(1) : String(Math.round(value));

interface Figure {
  readonly title: string;
  readonly value: string;
  readonly unit: string;
  readonly sub: string;
  readonly look: string;
  readonly values: readonly number[];
}

function figuresOf(info: ServerInfo, { samples, stepMs }: FiguresPage): readonly Figure[] {
  const perSecond = (value: number): number => value / (stepMs / 1000);
  const minute = samples.slice(-Math.max(1, Math.round(60_000 / stepMs)));
  const calls = sum(samples, one => one.calls);
  const faults = sum(samples, one => one.faults);
  const { current, totals, tasks, store } = info;
  const sent = totals.deliveries.taken + totals.deliveries.failed;
  const waits = tasks.byState["input-required"] + tasks.byState["auth-required"];
  const first = samples.findLast(one => one.firstEventMs.p95 !== null)?.firstEventMs;
  const commit = samples.findLast(one => one.commitMs.p50 !== null)?.commitMs;
  const list = (pick: (one: Figures) => number): readonly number[] => samples.map(pick);
  return [
    {
      title: "Calls",
      value: (sum(minute, one => one.calls) / ((minute.length * stepMs) / 1000)).toFixed(1),
      unit: "per second",
      sub: `${count(totals.calls)} since the start`,
      look: "working",
      values: list(one => perSecond(one.calls)),
    },
    {
      title: "Faults",
      value: calls > 0 ? ((faults / calls) * 100).toFixed(1) : "0",
      unit: "%",
      sub:
        Object.entries(totals.faults)
          .toSorted((one, other) => other[1] - one[1])[0]
          ?.join(": ") ?? "none since the start",
      look: "failed",
      values: list(one => one.faults),
    },
    {
      title: "First event",
      value: ms(first?.p95),
      unit: first?.p95 == null ? "" : "ms, 95 %",
      sub: first?.p50 == null ? "no stream in this time" : `median ${ms(first.p50)} ms`,
      look: "working",
      values: list(one => one.firstEventMs.p95 ?? 0),
    },
    {
      title: "Open streams",
      value: count(current.streams),
      unit: "",
      sub: `most: ${count(Math.max(0, ...list(one => one.streams)))}`,
      look: "working",
      values: list(one => one.streams),
    },
    {
      title: "Runs",
      value: count(current.runs),
      unit: "under way",
      sub: current.queue === 0 ? "the queue is empty" : `${count(current.queue)} queued`,
      look: "working",
      values: list(one => one.runs),
    },
    {
      title: "Waiting for a person",
      value: count(waits),
      unit: "",
      sub: `${count(tasks.total)} tasks in all`,
      look: "input",
      values: [],
    },
    {
      title: "Webhooks",
      value: sent > 0 ? ((totals.deliveries.taken / sent) * 100).toFixed(1) : "–",
      unit: sent > 0 ? "% delivered" : "",
      sub: `${count(totals.deliveries.failed)} failed attempts, ${count(totals.deliveries.givenUp)} given up`,
      look: "completed",
      values: list(one => one.deliveriesTaken),
    },
    {
      title: "Store",
      value: bytes(store.bytes),
      unit: "",
      sub: `commit ${ms(commit?.p50)} ms, memory ${bytes(current.memoryBytes)}`,
      look: "accent",
      values: list(one => one.storeBytes),
    },
  ];
}

function FigureCards({ info, figures }: { readonly info: ServerInfo; readonly figures: FiguresPage }) {
  const { samples, stepMs } = figures;
  const times = samples.map(one => one.at);
  const total = Math.max(1, ...Object.values(info.totals.callsByDialect));
  const by = Object.entries(info.totals.callsByDialect).toSorted((one, other) => other[1] - one[1]);
  return (
    <>
      <div class="figs">
        {figuresOf(info, figures).map(one => (
          <section key={one.title} class="card fig">
            <h2>{one.title}</h2>
            <div class="v">
              {one.value}
              <small>{one.unit}</small>
            </div>
            <div class="sub cut">{one.sub}</div>
            <Spark values={one.values} look={one.look} />
          </section>
        ))}
      </div>
      <div class="grid2">
        <section class="card">
          <div class="card-head">
            <h2>Calls</h2>
            <span class="count">every {duration(stepMs)}</span>
            <span class="grow" />
            <ul class="legend">
              <li class="is-working">
                <span class="key" />
                ok
              </li>
              <li class="is-failed">
                <span class="key" />
                fault
              </li>
            </ul>
          </div>
          <div class="card-body">
            <Chart
              label="Calls"
              times={times}
              unit=""
              series={[
                { label: "calls", color: "--working", values: samples.map(one => one.calls), kind: "bars" },
                { label: "faults", color: "--failed", values: samples.map(one => one.faults), kind: "bars" },
              ]}
            />
          </div>
        </section>
        <section class="card">
          <div class="card-head">
            <h2>Latency of calls</h2>
            <span class="grow" />
            <ul class="legend">
              <li class="is-working">
                <span class="key" />
                median
              </li>
              <li class="is-auth">
                <span class="key" />
                95 %
              </li>
              <li class="is-input">
                <span class="key" />
                99 %
              </li>
            </ul>
          </div>
          <div class="card-body">
            <Chart
              label="Latency of calls"
              times={times}
              unit="ms"
              series={[
                { label: "median", color: "--working", values: samples.map(one => one.callMs.p50) },
                { label: "95 %", color: "--auth", values: samples.map(one => one.callMs.p95) },
                {
                  label: "99 %",
                  color: "--input",
                  values: samples.map(one => one.callMs.p99),
                  isDashed: true,
                },
              ]}
            />
          </div>
        </section>
      </div>
      <div class="grid2">
        <section class="card">
          <div class="card-head">
            <h2>Nodes</h2>
            <span class="count">
              {plural(info.nodes.length, "node")} on {storeName(info)}
            </span>
          </div>
          <NodeTable info={info} />
        </section>
        <section class="card">
          <div class="card-head">
            <h2>Calls by dialect</h2>
            <span class="count">since the start</span>
          </div>
          <ul class="bars is-wide card-body">
            {by.map(([name, amount]) => (
              <li key={name}>
                <span class="cut">{dialectTitle(name)}</span>
                <svg aria-hidden="true">
                  <rect class="hbar" width={`${(amount / total) * 100}%`} height="6" />
                </svg>
                <span class="num">{count(amount)}</span>
              </li>
            ))}
            {by.length === 0 && <li class="dim">No calls yet</li>}
          </ul>
        </section>
      </div>
    </>
  );
}

function NodeTable({ info }: { readonly info: ServerInfo }) {
  const now = Date.now();
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">Version</th>
          <th scope="col" class="num">
            Seen
          </th>
          <th scope="col" class="num">
            Up
          </th>
        </tr>
      </thead>
      <tbody>
        {info.nodes.map(node => {
          const isLate = now - node.seenAt > 60_000;
          return (
            <tr key={node.id}>
              <td>
                <span class={`st is-${isLate ? "input" : "completed"}`}>
                  <Icon name={isLate ? "alert" : "completed"} />
                  {oneLine(node.id, 40)}
                  {node.isThis && <span class="tag">this</span>}
                </span>
              </td>
              <td>{node.version}</td>
              <td class="num">{ago(now - node.seenAt)}</td>
              <td class="num">{duration(Math.max(0, now - node.startedAt))}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Nodes({ info }: { readonly info: ServerInfo }) {
  return (
    <>
      <section class="card">
        <NodeTable info={info} />
      </section>
      <p class="muted server-note">
        Figures and log lines are those of the node that answers, {info.node}; everything else is the same on
        every node.{" "}
        {info.store.kind === "postgres"
          ? ""
          : "One process owns this store; several nodes share a Postgres database."}{" "}
        <a class="link" href={href(["docs", "operate", "scale.md"])}>
          Many nodes
        </a>
      </p>
    </>
  );
}
