import type { Json, JsonObject } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { JsonRpcEnvelope, Operation, Route, WireCall } from "../../ports/index.ts";
import { invalidField, isObject } from "./fields.ts";
import type { RestPath } from "./rest-paths.ts";

/** Which method or path is which operation, as far as protocols have it in common. */

/** A vendor's protocol: with extensions ("on"), or exactly as its document describes it. */
export type VendorProfile = "on" | "strict";

/** JSON-RPC 2.0: a call without an id is a notification and gets no response. */
export const JSON_RPC: JsonRpcEnvelope = { withoutId: "none", idInFrames: true };

/** The default agent, and each agent by its name. */
const MOUNTS: readonly string[] = ["", "/agents/{agent}"];

/** JSON-RPC of the official versions. */
export const JSON_RPC_ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
];

export const createCardRoutes = (path: string, method = "card"): readonly Route[] =>
  MOUNTS.map(mount => ({ transport: "document", verb: "GET", path: `${mount}${path}`, method }));

/** Cards of the current versions. Some clients add the path to one that has it already, or put the name into it. */
export const CARD_ROUTES: readonly Route[] = [
  ...createCardRoutes("/.well-known/agent-card.json"),
  ...createCardRoutes("/.well-known/.well-known/agent-card.json"),
  { transport: "document", verb: "GET", path: "/.well-known/{agent}/agent-card.json", method: "card" },
];

// ---- methods of JSON-RPC -------------------------------------------------------------------------------------

/** Decodes the call of one method; the agent comes from the path. */
export type DecodeCall = (call: WireCall) => WithoutAgent<Operation>;
type WithoutAgent<T> = T extends Operation ? Omit<T, "agent"> : never;
/** Every method of a protocol. */
export type MethodTable = Readonly<Record<string, DecodeCall>>;

/** `protocol`: its name in the error message. */
export function decodeMethod(call: WireCall, methods: MethodTable, protocol: string): Operation {
  const decode = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
  if (!decode)
    throw new Fault(
      "method-not-found",
      `Method not found: "${call.method.slice(0, 100)}"; ${protocol} has ${Object.keys(methods).join(", ")}`,
    );
  return { ...(decode(call) as Operation), agent: call.vars.agent as Operation["agent"] };
}

// ---- paths of HTTP+JSON --------------------------------------------------------------------------------------

/** The prefix of v0.3's paths (v0.3 §3.5.3). */
export const V03_PREFIX = "/v1";

export const createRestRoutes = (prefix: string, paths: readonly RestPath[]): readonly Route[] =>
  MOUNTS.flatMap(mount =>
    paths.map(([verb, path, method]) => ({
      transport: "rest",
      verb,
      path: `${mount}${prefix}${path}`,
      method,
    })),
  );

export const toEndpoints = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.map(route => route.path));

/** The parameters in the form of JSON-RPC; the path overrides body and query. */
export function decodeRestParams(call: WireCall): JsonObject {
  const params = call.params ?? decodeQuery(call.query);
  if (!isObject(params)) throw invalidField("body", "must be a JSON object");
  return { ...params, ...(call.vars as JsonObject) };
}

const BOOLEANS: ReadonlySet<string> = new Set(["includeArtifacts", "include_artifacts"]);

/** Query values are strings: booleans are converted here, integers by their readers; empty values are absent. */
function decodeQuery(query: URLSearchParams): JsonObject {
  if (query.size === 0) return {};
  const set = [...query].filter(([, text]) => text !== "");
  return Object.fromEntries(set.map(([name, text]) => [name, toQueryValue(name, text)]));
}

const toQueryValue = (name: string, text: string): Json =>
  BOOLEANS.has(name) && (text === "true" || text === "false") ? text === "true" : text;
