/** The calls of the differential test, in order; later ones use what earlier ones created. */
import type { Call } from "./compare.ts";
import { RUN_CALLS } from "./run-calls.ts";

const SYSTEM: readonly Call[] = [
  { name: "ok", path: "/ok" },
  { name: "info", path: "/info" },
];

const ASSISTANTS: readonly Call[] = [
  {
    name: "assistants search",
    verb: "POST",
    path: "/assistants/search",
    body: { metadata: { created_by: "system" }, graph_id: "chat", limit: 3 },
  },
  {
    name: "assistants count",
    verb: "POST",
    path: "/assistants/count",
    body: { graph_id: "chat" },
  },
  ...["chat", "steps", "nested", "approval", "both", "slow", "broken", "tools"].map(name => ({
    name: `assistant ${name}`,
    path: `/assistants/${name}`,
    save: { [`${name}-id`]: "assistant_id" },
  })),
  { name: "assistant missing", path: "/assistants/00000000-0000-4000-8000-000000000000" },
  { name: "graph", path: "/assistants/steps/graph" },
  { name: "graph nested", path: "/assistants/nested/graph" },
  { name: "graph xray", path: "/assistants/nested/graph?xray=true" },
  { name: "subgraphs", path: "/assistants/nested/subgraphs" },
  { name: "subgraphs recurse", path: "/assistants/nested/subgraphs?recurse=true" },
  { name: "schemas", path: "/assistants/chat/schemas" },
  { name: "schemas state", path: "/assistants/steps/schemas" },
  {
    name: "assistant create",
    verb: "POST",
    path: "/assistants",
    body: {
      graph_id: "steps",
      name: "mine",
      description: "of mine",
      metadata: { a: 1 },
      config: { tags: ["x"], configurable: { b: 2 } },
      context: { c: 3 },
    },
    save: { assistant: "assistant_id" },
  },
  {
    name: "assistant exists",
    verb: "POST",
    path: "/assistants",
    body: { graph_id: "steps", assistant_id: "{assistant}" },
  },
  {
    name: "assistant exists, do nothing",
    verb: "POST",
    path: "/assistants",
    body: { graph_id: "steps", assistant_id: "{assistant}", if_exists: "do_nothing" },
  },
  {
    name: "assistant patch",
    verb: "PATCH",
    path: "/assistants/{assistant}",
    body: { metadata: { d: 4 }, name: "other" },
  },
  { name: "assistant versions", verb: "POST", path: "/assistants/{assistant}/versions", body: {} },
  { name: "assistant latest", verb: "POST", path: "/assistants/{assistant}/latest", body: { version: 1 } },
  { name: "assistant delete", verb: "DELETE", path: "/assistants/{assistant}" },
  { name: "assistant deleted", path: "/assistants/{assistant}" },
];

const THREADS: readonly Call[] = [
  {
    name: "thread create",
    verb: "POST",
    path: "/threads",
    body: { metadata: { topic: "x", graph_id: "steps" } },
    save: { thread: "thread_id" },
  },
  { name: "thread exists", verb: "POST", path: "/threads", body: { thread_id: "{thread}" } },
  {
    name: "thread exists, do nothing",
    verb: "POST",
    path: "/threads",
    body: { thread_id: "{thread}", if_exists: "do_nothing" },
  },
  { name: "thread", path: "/threads/{thread}" },
  { name: "thread missing", path: "/threads/00000000-0000-4000-8000-000000000000" },
  { name: "thread patch", verb: "PATCH", path: "/threads/{thread}", body: { metadata: { more: 1 } } },
  { name: "state of a new thread", path: "/threads/{thread}/state" },
  { name: "history of a new thread", verb: "POST", path: "/threads/{thread}/history", body: {} },
  {
    name: "state update",
    verb: "POST",
    path: "/threads/{thread}/state",
    body: { values: { trail: ["set"] }, as_node: "one" },
    save: { checkpoint: "checkpoint.checkpoint_id" },
  },
  { name: "state", path: "/threads/{thread}/state" },
  { name: "state at a checkpoint", path: "/threads/{thread}/state/{checkpoint}" },
  {
    name: "state at a checkpoint, by POST",
    verb: "POST",
    path: "/threads/{thread}/state/checkpoint",
    body: { checkpoint: { checkpoint_id: "{checkpoint}", checkpoint_ns: "" }, subgraphs: true },
  },
  { name: "run goes on", verb: "POST", path: "/threads/{thread}/runs/wait", body: { assistant_id: "steps" } },
  { name: "history", verb: "POST", path: "/threads/{thread}/history", body: { limit: 10 } },
  { name: "history by GET", path: "/threads/{thread}/history?limit=1" },
  { name: "history before", path: "/threads/{thread}/history?limit=2&before={checkpoint}" },
  {
    name: "threads search",
    verb: "POST",
    path: "/threads/search",
    body: { metadata: { topic: "x" }, limit: 10 },
  },
  {
    name: "threads search, selected",
    verb: "POST",
    path: "/threads/search",
    body: { ids: ["{thread}"], select: ["thread_id", "status", "values"] },
  },
  {
    name: "threads search, none",
    verb: "POST",
    path: "/threads/search",
    body: { metadata: { topic: "nothing" } },
  },
  { name: "threads count", verb: "POST", path: "/threads/count", body: { metadata: { topic: "x" } } },
  {
    name: "thread copy",
    verb: "POST",
    path: "/threads/{thread}/copy",
    body: {},
    save: { copy: "thread_id" },
  },
  { name: "state of the copy", path: "/threads/{copy}/state" },
  {
    name: "thread with supersteps",
    verb: "POST",
    path: "/threads",
    body: {
      metadata: { graph_id: "steps" },
      supersteps: [
        { updates: [{ values: { trail: ["a"] }, as_node: "__start__" }] },
        { updates: [{ values: { trail: ["b"] }, as_node: "one" }] },
      ],
    },
    save: { stepped: "thread_id" },
  },
  { name: "state after supersteps", path: "/threads/{stepped}/state" },
  { name: "thread delete", verb: "DELETE", path: "/threads/{copy}" },
  { name: "thread deleted", path: "/threads/{copy}" },
];

const item = { namespace: ["users", "ada"], key: "food" };
const STORE: readonly Call[] = [
  { name: "item put", verb: "PUT", path: "/store/items", body: { ...item, value: { likes: "pizza", n: 2 } } },
  { name: "item get", path: "/store/items?namespace=users.ada&key=food" },
  { name: "item missing", path: "/store/items?namespace=users.ada&key=nothing" },
  { name: "items search", verb: "POST", path: "/store/items/search", body: { namespace_prefix: ["users"] } },
  {
    name: "items search, filtered",
    verb: "POST",
    path: "/store/items/search",
    body: { namespace_prefix: ["users"], filter: { likes: "soup" } },
  },
  { name: "namespaces", verb: "POST", path: "/store/namespaces", body: { prefix: ["users"], max_depth: 2 } },
  {
    name: "item with a bad namespace",
    verb: "PUT",
    path: "/store/items",
    body: { ...item, namespace: ["a.b"], value: {} },
  },
  { name: "item delete", verb: "DELETE", path: "/store/items", body: item },
  { name: "item deleted", path: "/store/items?namespace=users.ada&key=food" },
];

export const CALLS: readonly Call[] = [...SYSTEM, ...ASSISTANTS, ...THREADS, ...RUN_CALLS, ...STORE];
