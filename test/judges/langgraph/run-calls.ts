/** The calls of the differential test that are about runs. */
import type { Call } from "./compare.ts";

const human = (content: string, id = "human-1") => ({ messages: [{ type: "human", content, id }] });
const ALL_MODES = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"];

const newThread = (name: string): Call => ({
  name: `thread for ${name}`,
  verb: "POST",
  path: "/threads",
  body: {},
  save: { [name]: "thread_id" },
});

const RUNS: readonly Call[] = [
  newThread("run"),
  {
    name: "stream, all modes",
    verb: "POST",
    path: "/threads/{run}/runs/stream",
    body: { assistant_id: "steps", input: { trail: ["in"] }, stream_mode: ALL_MODES, metadata: { m: 1 } },
  },
  { name: "runs", path: "/threads/{run}/runs", save: { first: "0.run_id" } },
  { name: "run", path: "/threads/{run}/runs/{first}" },
  { name: "run join", path: "/threads/{run}/runs/{first}/join" },
  { name: "run missing", path: "/threads/{run}/runs/00000000-0000-4000-8000-000000000000" },
  { name: "thread after a run", path: "/threads/{run}" },
  { name: "history after a run", verb: "POST", path: "/threads/{run}/history", body: {} },
  {
    name: "stream of a subgraph",
    verb: "POST",
    path: "/runs/stream",
    body: {
      assistant_id: "nested",
      input: { trail: [] },
      stream_mode: ["values", "updates", "custom"],
      stream_subgraphs: true,
    },
  },
  {
    name: "stream without subgraphs",
    verb: "POST",
    path: "/runs/stream",
    body: { assistant_id: "nested", input: { trail: [] }, stream_mode: ["values", "updates", "custom"] },
  },
  newThread("talk"),
  {
    name: "stream of tokens",
    verb: "POST",
    path: "/threads/{talk}/runs/stream",
    body: { assistant_id: "chat", input: human("hi"), stream_mode: ["messages-tuple", "values"] },
  },
  {
    name: "stream of the old mode",
    verb: "POST",
    path: "/threads/{talk}/runs/stream",
    body: { assistant_id: "chat", input: human("ho", "human-2"), stream_mode: "messages" },
  },
  {
    name: "stream of events",
    verb: "POST",
    path: "/runs/stream",
    body: { assistant_id: "steps", input: { trail: [] }, stream_mode: "events" },
  },
  {
    name: "stream of a tool",
    verb: "POST",
    path: "/runs/stream",
    body: {
      assistant_id: "tools",
      input: human("1 + 2"),
      stream_mode: ["updates", "messages-tuple", "tools"],
    },
  },
  {
    name: "stream with a message as in OpenAI's API",
    verb: "POST",
    path: "/runs/stream",
    body: { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi", id: "h" }] } },
  },
];

const INTERRUPTS: readonly Call[] = [
  newThread("asked"),
  {
    name: "stream with an interrupt",
    verb: "POST",
    path: "/threads/{asked}/runs/stream",
    body: { assistant_id: "approval", input: human("do it"), stream_mode: ["values", "updates"] },
  },
  { name: "thread interrupted", path: "/threads/{asked}" },
  { name: "state interrupted", path: "/threads/{asked}/state" },
  { name: "run interrupted", path: "/threads/{asked}/runs" },
  {
    name: "threads search, interrupted",
    verb: "POST",
    path: "/threads/search",
    body: { status: "interrupted", ids: ["{asked}"], select: ["thread_id", "status", "interrupts"] },
  },
  {
    name: "resume",
    verb: "POST",
    path: "/threads/{asked}/runs/stream",
    body: { assistant_id: "approval", command: { resume: "yes" }, stream_mode: ["values", "updates"] },
  },
  newThread("twice"),
  {
    name: "wait with two interrupts",
    verb: "POST",
    path: "/threads/{twice}/runs/wait",
    body: { assistant_id: "both", input: { trail: [] } },
  },
  {
    name: "state with two interrupts",
    path: "/threads/{twice}/state",
    save: { left: "tasks.0.interrupts.0.id", right: "tasks.1.interrupts.0.id" },
  },
  {
    name: "resume both",
    verb: "POST",
    path: "/threads/{twice}/runs/wait",
    body: { assistant_id: "both", command: { resume: { "{left}": "l", "{right}": "r" } } },
  },
  newThread("paused"),
  {
    name: "interrupt before",
    verb: "POST",
    path: "/threads/{paused}/runs/stream",
    body: {
      assistant_id: "steps",
      input: { trail: [] },
      interrupt_before: ["two"],
      stream_mode: ["values", "updates"],
    },
  },
  { name: "thread paused", path: "/threads/{paused}" },
  {
    name: "goto and update",
    verb: "POST",
    path: "/threads/{paused}/runs/wait",
    body: { assistant_id: "steps", command: { goto: "two", update: { trail: ["updated"] } } },
  },
];

const CONTROL: readonly Call[] = [
  newThread("busy"),
  {
    name: "run create",
    verb: "POST",
    path: "/threads/{busy}/runs",
    body: { assistant_id: "slow", input: { trail: [] }, metadata: { m: 2 } },
    save: { slow: "run_id" },
  },
  { name: "run running", path: "/threads/{busy}/runs/{slow}", until: ["status", "running"] },
  { name: "thread busy", path: "/threads/{busy}" },
  {
    name: "run rejected",
    verb: "POST",
    path: "/threads/{busy}/runs",
    body: { assistant_id: "slow", input: { trail: [] }, multitask_strategy: "reject" },
  },
  {
    name: "run cancel",
    verb: "POST",
    path: "/threads/{busy}/runs/{slow}/cancel?wait=1&action=interrupt",
    body: {},
  },
  { name: "run canceled", path: "/threads/{busy}/runs/{slow}", until: ["status", "interrupted"] },
  { name: "thread of a canceled run", path: "/threads/{busy}" },
  { name: "run delete", verb: "DELETE", path: "/threads/{busy}/runs/{slow}" },
  { name: "run deleted", path: "/threads/{busy}/runs/{slow}" },
  newThread("failing"),
  {
    name: "stream that fails",
    verb: "POST",
    path: "/threads/{failing}/runs/stream",
    body: { assistant_id: "broken", input: { trail: [] } },
  },
  { name: "thread that failed", path: "/threads/{failing}", until: ["status", "error"] },
  { name: "run that failed", path: "/threads/{failing}/runs" },
  {
    name: "wait that fails",
    verb: "POST",
    path: "/threads/{failing}/runs/wait",
    body: { assistant_id: "broken", input: { trail: [] } },
  },
  {
    name: "stateless wait",
    verb: "POST",
    path: "/runs/wait",
    body: { assistant_id: "steps", input: { trail: ["in"] } },
  },
  {
    name: "stateless wait that fails",
    verb: "POST",
    path: "/runs/wait",
    body: { assistant_id: "broken", input: { trail: [] } },
  },
  { name: "run of a missing assistant", verb: "POST", path: "/runs/wait", body: { assistant_id: "nothing" } },
  {
    name: "run on a missing thread",
    verb: "POST",
    path: "/threads/00000000-0000-4000-8000-000000000000/runs/wait",
    body: { assistant_id: "steps", input: { trail: [] } },
  },
  {
    name: "run that creates its thread",
    verb: "POST",
    path: "/threads/00000000-0000-4000-8000-000000000001/runs/wait",
    body: { assistant_id: "steps", input: { trail: [] }, if_not_exists: "create" },
  },
  { name: "run without an assistant", verb: "POST", path: "/runs/wait", body: {} },
  {
    name: "run with a wrong mode",
    verb: "POST",
    path: "/runs/stream",
    body: { assistant_id: "steps", stream_mode: "wrong" },
  },
  {
    name: "batch",
    verb: "POST",
    path: "/runs/batch",
    body: [
      { assistant_id: "steps", input: { trail: [] } },
      { assistant_id: "steps", input: { trail: [] } },
    ],
  },
];

export const RUN_CALLS: readonly Call[] = [...RUNS, ...INTERRUPTS, ...CONTROL];
