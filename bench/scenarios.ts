import { type ContenderId, isDragoman } from "./contenders.ts";
import { type Binding, LIST_PAGE, type Wire, type Work } from "./load/order.ts";

/** The measurements and their targets. A new scenario is a new entry here. */
export type Scenario = LoadScenario | IdleScenario;

interface Common {
  name: string;
  about: string;
  comparisons: Comparison[];
}

/** CPU time per operation under load. */
export interface LoadScenario extends Common {
  kind: "load";
  /** The unit of an operation, for the report. */
  unit: "operation" | "chunk";
  entries: LoadEntry[];
}

/** Memory per open stream whose agent sends nothing. */
export interface IdleScenario extends Common {
  kind: "idle";
  /** The calls before the memory of a server is read. */
  entries: LoadEntry[];
}

/** One measurement in each round. */
export interface Entry {
  id: string;
  contender: ContenderId;
  /** The working tree of the contender; undefined: this one. */
  tree?: string;
}

export interface LoadEntry extends Entry {
  work: Work;
  /** If it is not the contender's own. */
  wire?: Wire;
  over: Binding;
  connections: number;
  /** How many units one operation has. */
  units: number;
  /** Tasks that the server has before it is measured. */
  tasksBefore?: number;
}

/** `atLeast` is for theirs / ours, `atMost` for ours / theirs; without a target it is theirs / ours. */
export interface Comparison {
  ours: string;
  theirs: string;
  target: Target | undefined;
}

/** `perSecond`: a least ratio of op/s as well. */
export type Target = { atLeast: number; perSecond?: number } | { atMost: number };

/** Sends before memory is first read: one-time allocations of a server are not the cost of a stream. */
export const IDLE_SENDS_BEFORE = 1_000;
export const IDLE_STREAMS = 1_000;

const SEND: Work = { kind: "send" };
const GET: Work = { kind: "get" };
const STREAM_50: Work = { kind: "stream", chunks: 50 };
const STREAM_200: Work = { kind: "stream", chunks: 200 };

const FRONT_ENDS = ["chat", "responses", "aisdk", "agui"] as const;
const OTHER_WIRES = ["v03", "v02", "v01", "langgraph", "orloj", "arbiter", "simple"] as const;

/** The official servers against each other: no target, but a figure to compare machines. */
const ANCHORS: Comparison = { ours: "official03", theirs: "official13", target: undefined };

/** What is measured in another way: see the files of these names. */
export const MEASUREMENTS = ["paced", "startup", "cluster", "langgraph"] as const;
export type Measurement = (typeof MEASUREMENTS)[number];

export const SCENARIOS: Scenario[] = [
  {
    name: "send",
    about: "SendMessage, echo: task, one artifact, completed; 32 connections",
    kind: "load",
    unit: "operation",
    entries: each(["power", "official13", "process", "official03", "bare"], SEND, 32),
    comparisons: [
      ...against13({ atLeast: 5 }),
      { ours: "process", theirs: "official13", target: { atLeast: 6 } },
      ...against03({ atLeast: 1.2 }),
      { ours: "power", theirs: "bare", target: { atLeast: 0.5 } },
      { ours: "process", theirs: "bare", target: { atLeast: 0.5 } },
      ANCHORS,
    ],
  },
  {
    name: "get",
    about: "GetTask of a finished task; 32 connections",
    kind: "load",
    unit: "operation",
    entries: each(["power", "official13"], GET, 32),
    comparisons: against13({ atLeast: 2 }),
  },
  {
    name: "stream50",
    about: "a stream of 50 chunks of 200 bytes; 32 connections",
    kind: "load",
    unit: "operation",
    entries: each(["power", "official13", "process", "official03"], STREAM_50, 32),
    comparisons: [...against13({ atLeast: 20 }), ...against03({ atLeast: 1.8 }), ANCHORS],
  },
  {
    name: "stream200",
    about: "a stream of 200 chunks of 200 bytes; 4 connections",
    kind: "load",
    unit: "operation",
    entries: each(["power", "official13"], STREAM_200, 4),
    comparisons: against13({ atLeast: 80 }),
  },
  {
    name: "linear",
    about: "cost per chunk of a long stream against a short one; 4 connections",
    kind: "load",
    unit: "chunk",
    entries: [toLinear("20,000 chunks", 20_000), toLinear("100 chunks", 100)],
    comparisons: [{ ours: "20,000 chunks", theirs: "100 chunks", target: { atMost: 1.5 } }],
  },
  {
    name: "rest",
    about: "SendMessage over HTTP+JSON against JSON-RPC; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [toSend("HTTP+JSON", "rest"), toSend("JSON-RPC", "jsonrpc")],
    comparisons: [{ ours: "HTTP+JSON", theirs: "JSON-RPC", target: { atMost: 1.1 } }],
  },
  {
    name: "grpc",
    about: "SendMessage over gRPC against JSON-RPC; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [toSend("gRPC", "grpc"), toSend("JSON-RPC", "jsonrpc")],
    comparisons: [{ ours: "gRPC", theirs: "JSON-RPC", target: { atMost: 1.7 } }],
  },
  {
    name: "dialects",
    about: "a send in each dialect against v1; 32 connections",
    kind: "load",
    unit: "operation",
    entries: ["v1" as const, ...OTHER_WIRES].map(wire => ({ ...toSend(wire, "jsonrpc"), wire })),
    comparisons: OTHER_WIRES.map(wire => ({ ours: wire, theirs: "v1", target: { atMost: 1.2 } })),
  },
  {
    name: "frontends",
    about: "a send in each front end against v1; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [
      toSend("v1", "jsonrpc"),
      { ...toSend("v11", "jsonrpc"), contender: "v11" },
      ...FRONT_ENDS.map(wire => ({ ...toSend(wire, "rest"), wire })),
      { ...toSend("LangGraph run", "rest"), wire: "runs" },
    ],
    comparisons: [
      ...["v11", ...FRONT_ENDS].map(ours => ({ ours, theirs: "v1", target: { atMost: 1.3 } })),
      // It also creates a thread, reads its state, and removes the thread.
      { ours: "LangGraph run", theirs: "v1", target: { atMost: 6 } },
    ],
  },
  {
    name: "frontends50",
    about: "a stream of 50 chunks in each front end against v1; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [
      { ...toSend("v1", "jsonrpc"), work: STREAM_50 },
      { ...toSend("v11", "jsonrpc"), contender: "v11", work: STREAM_50 },
      ...FRONT_ENDS.map(wire => ({ ...toSend(wire, "rest"), wire, work: STREAM_50 })),
    ],
    comparisons: ["v11", ...FRONT_ENDS].map(ours => ({ ours, theirs: "v1", target: { atMost: 1.5 } })),
  },
  {
    name: "telemetry",
    about: "SendMessage with metrics, and with traces as well, against neither; 32 connections",
    kind: "load",
    unit: "operation",
    entries: each(["silent", "power", "traced"], SEND, 32),
    comparisons: [
      { ours: "power", theirs: "silent", target: { atMost: 1.1 } },
      { ours: "traced", theirs: "silent", target: { atMost: 1.6 } },
    ],
  },
  {
    name: "mcp",
    about: "a tool call over MCP against SendMessage, on the same server; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [
      { ...toSend("MCP tool call", "jsonrpc"), contender: "mcp", wire: "mcp" },
      { ...toSend("SendMessage", "jsonrpc"), contender: "mcp" },
    ],
    comparisons: [{ ours: "MCP tool call", theirs: "SendMessage", target: { atMost: 8 } }],
  },
  {
    name: "push",
    about: "webhook deliveries of finished sends, each against a send without a webhook; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [
      { ...toSend("webhook delivery", "jsonrpc"), contender: "push", work: { kind: "push" } },
      { ...toSend("SendMessage", "jsonrpc"), contender: "push" },
    ],
    comparisons: [{ ours: "webhook delivery", theirs: "SendMessage", target: { atMost: 6 } }],
  },
  {
    name: "list",
    about: `a page of ${LIST_PAGE} among 100,000 tasks against the same among 1,000; 4 connections`,
    kind: "load",
    unit: "operation",
    entries: [toList("among 100,000", 100_000), toList("among 1,000", 1_000)],
    comparisons: [{ ours: "among 100,000", theirs: "among 1,000", target: { atMost: 1.2 } }],
  },
  {
    name: "resume",
    about: "reading a log of 10,000 events again, against streaming it live, for each event; 4 connections",
    kind: "load",
    unit: "chunk",
    entries: [
      { ...toLinear("resumed", 10_000), work: { kind: "resume", chunks: 10_000 } },
      toLinear("live", 10_000),
    ],
    comparisons: [{ ours: "resumed", theirs: "live", target: { atMost: 1 } }],
  },
  {
    name: "postgres",
    about:
      "SendMessage and a stream of 50 chunks on Postgres, without the CPU time of Postgres; 32 connections",
    kind: "load",
    unit: "operation",
    entries: [
      { ...toSend("send on Postgres", "jsonrpc"), contender: "postgres" },
      { ...toSend("send, official 1.3.0", "jsonrpc"), contender: "official13" },
      { ...toSend("stream50 on Postgres", "jsonrpc"), contender: "postgres", work: STREAM_50 },
      { ...toSend("stream50, official 1.3.0", "jsonrpc"), contender: "official13", work: STREAM_50 },
    ],
    comparisons: [
      { ours: "send on Postgres", theirs: "send, official 1.3.0", target: { atLeast: 2, perSecond: 2 } },
      { ours: "stream50 on Postgres", theirs: "stream50, official 1.3.0", target: { atLeast: 10 } },
    ],
  },
  {
    name: "idle",
    about: `memory per open stream of a silent agent; ${IDLE_STREAMS} streams`,
    kind: "idle",
    entries: each(["power", "official13"], SEND, 32),
    comparisons: against13({ atMost: 0.5 }),
  },
];

/**
 * Dragoman's own entries of a scenario, each beside the same entry of another tree, usually the previous
 * commit.
 */
export function againstTree(scenario: Scenario, tree: string): Scenario {
  const own = scenario.entries.filter(entry => isDragoman(entry.contender));
  const other = own.map(entry => ({ ...entry, id: `${entry.id} before`, tree }));
  const comparisons = own.map(({ id }) => ({ ours: id, theirs: `${id} before`, target: { atMost: 1.05 } }));
  return { ...scenario, entries: own.flatMap((entry, i) => [entry, other[i] as LoadEntry]), comparisons };
}

function each(contenders: ContenderId[], work: Work, connections: number): LoadEntry[] {
  return contenders.map(contender => {
    return { id: contender, contender, work, over: "jsonrpc", connections, units: 1 };
  });
}

function toLinear(id: string, chunks: number): LoadEntry {
  const work: Work = { kind: "stream", chunks };
  return { id, contender: "power", work, over: "jsonrpc", connections: 4, units: chunks };
}

function toList(id: string, tasksBefore: number): LoadEntry {
  return { ...toSend(id, "jsonrpc"), work: { kind: "list" }, connections: 4, tasksBefore };
}

function toSend(id: string, over: Binding): LoadEntry {
  return { id, contender: "power", work: SEND, over, connections: 32, units: 1 };
}

function against13(target: Target): Comparison[] {
  return [{ ours: "power", theirs: "official13", target }];
}

function against03(target: Target): Comparison[] {
  return [{ ours: "process", theirs: "official03", target }];
}
