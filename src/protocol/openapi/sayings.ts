import type { Json } from "../../lib/json.ts";
import type { Route } from "../../ports/index.ts";
import { type Members, object, record, ref, type Schema } from "./schema.ts";
import type { Method, Vocabulary } from "./vocabulary.ts";

/** What one dialect says about one of its routes; routes that several dialects have are put together from these. */
export interface Saying {
  readonly summary: string;
  readonly query: Members;
  readonly headers: readonly HeaderName[];
  readonly body: Body | undefined;
  /** What comes back whole, and the pieces of what comes back as a stream. */
  readonly json: Schema | undefined;
  readonly events: Schema | undefined;
  /** What a refusal is. */
  readonly refusal: Schema;
}

export interface Body {
  readonly schema: Schema;
  readonly required: boolean;
  readonly example?: Json;
}

/** Headers that mean something here. */
export const HEADERS = {
  "A2A-Version": "The version that the caller speaks",
  "A2A-Extensions": "URIs of extensions that the caller asks for, with commas between them",
  "Idempotency-Key": "A name for this call: the same call again under the same name is not done twice",
  "Last-Event-ID": "Go on after the event with this id",
} as const;
export type HeaderName = keyof typeof HEADERS;

export function sayingOf(route: Route, words: Vocabulary, prefix: string): Saying {
  switch (route.transport) {
    case "rest":
      return sayRest(route, words, prefix);
    case "jsonrpc":
      return sayJsonRpc(route, words, prefix);
    case "document":
      return sayDocument(route, words);
  }
}

export const varsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(found => found[1] as string);

const UNTOLD: Method = { summary: "", needed: {}, optional: {}, answer: { kind: "one", schema: record } };

function sayRest(route: Route, words: Vocabulary, prefix: string): Saying {
  const method = words.rest[route.method] ?? UNTOLD;
  const vars = varsOf(route.path);
  const needed = without(method.needed, vars);
  const { answer, example } = method;
  const hasBody = route.verb === "POST" && Object.keys({ ...needed, ...method.optional }).length > 0;
  return {
    summary: method.summary || route.method,
    query: route.verb === "GET" ? { ...needed, ...method.optional } : {},
    headers: [
      "A2A-Version",
      ...(method.sends ? (["A2A-Extensions", "Idempotency-Key"] as const) : []),
      ...(answer.kind === "many" ? (["Last-Event-ID"] as const) : []),
    ],
    body: hasBody
      ? {
          schema: method.sends ? ref(requestOf(route.method, prefix)) : object(needed, method.optional),
          required: Object.keys(needed).length > 0,
          ...(example !== undefined && { example }),
        }
      : undefined,
    json: answer.kind === "one" ? answer.schema : undefined,
    events: answer.kind === "many" ? answer.schema : undefined,
    refusal: words.refusal,
  };
}

const requestOf = (method: string, prefix: string): string => `${prefix}${method}Request`;

/** What is sent to a path, under a name of its own: generators make a type of it. */
export const requestsOf = (words: Vocabulary, prefix: string): Members =>
  Object.fromEntries(
    Object.entries(words.rest)
      .filter(([, { sends }]) => sends)
      .map(([method, { needed, optional }]) => [requestOf(method, prefix), object(needed, optional)]),
  );

const without = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

function sayJsonRpc(route: Route, words: Vocabulary, prefix: string): Saying {
  const named = Object.keys(words.rpc).length > 0;
  const reply = ref(named ? `${prefix}Reply` : "JsonRpcReply");
  const [method, first] = Object.entries(words.rpc)[0] ?? [];
  const example = first?.example && {
    jsonrpc: "2.0",
    id: 1,
    method: method as string,
    params: first.example,
  };
  return {
    summary: `Calls to ${whom(route, words)}, in JSON-RPC 2.0`,
    query: {},
    headers: ["A2A-Version", "A2A-Extensions", "Idempotency-Key", "Last-Event-ID"],
    body: {
      schema: ref(named ? `${prefix}Call` : "JsonRpcCall"),
      required: true,
      ...(example && { example }),
    },
    json: reply,
    events: reply,
    refusal: ref("JsonRpcReply"),
  };
}

const whom = (route: Route, words: Vocabulary): string =>
  route.path.includes("{agent}") ? "an agent" : (words.unnamed ?? "the default agent");

const DOCUMENTS: Readonly<Record<string, (whose: string) => string>> = {
  card: whose => `The card of ${whose}`,
  agents: () => "The agents that are served, with their addresses",
  "extended-card": () => "The extended card, if the agent has one and the caller is known",
};

const sayDocument = (route: Route, words: Vocabulary): Saying => ({
  summary: DOCUMENTS[route.method]?.(whom(route, words)) ?? route.method,
  query: {},
  headers: ["A2A-Version"],
  body: undefined,
  json: words.documents[route.method] ?? record,
  events: undefined,
  refusal: words.refusal,
});
