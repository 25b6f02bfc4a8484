/** Makes the same calls to two servers, and lists the members in which the answers differ. */

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, a text, or the events of a stream. */
  readonly body: unknown;
}

export interface Call {
  readonly name: string;
  /** Variables of earlier answers, as in `/threads/{thread}/state`. */
  readonly path: string;
  readonly verb?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Variables by the path of a member of the answer (`thread_id`, `0.checkpoint.checkpoint_id`). */
  readonly save?: Readonly<Record<string, string>>;
  /** Asks again until the member has this value. */
  readonly until?: readonly [string, unknown];
}

export type Variables = Record<string, string>;

const COMPARED_HEADERS = ["content-location", "x-pagination-total", "x-pagination-next"];

export async function execute(base: string, call: Call, known: Variables): Promise<Reply> {
  for (;;) {
    const reply = await send(base, call, known);
    const [path, wanted] = call.until ?? [];
    if (path !== undefined && valueAt(reply.body, path) !== wanted) {
      await new Promise(resolve => setTimeout(resolve, 20));
      continue;
    }
    for (const [name, from] of Object.entries(call.save ?? {}))
      known[name] = String(valueAt(reply.body, from));
    return reply;
  }
}

async function send(
  base: string,
  { path, verb = "GET", body, headers = {} }: Call,
  known: Variables,
): Promise<Reply> {
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (all, name) => known[name] ?? all);
  const response = await fetch(base + fill(path), {
    method: verb,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: fill(JSON.stringify(body)) }),
  });
  const text = await response.text();
  const kept = COMPARED_HEADERS.flatMap(name => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    status: response.status,
    headers: Object.fromEntries(kept),
    body: toBody(text, response.headers.get("content-type") ?? ""),
  };
}

function toBody(text: string, type: string): unknown {
  if (type.includes("event-stream")) return toEvents(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const toEvents = (text: string): readonly object[] =>
  text.split(/\r?\n\r?\n/).flatMap(block => {
    const event = /^event: ?(.*)$/m.exec(block)?.[1];
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    return event === undefined && data === undefined ? [] : [{ event, data: JSON.parse(data ?? "null") }];
  });

export const valueAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/** Ids and times differ by nature, except those of assistants, which follow from names: there `known` has a variable. */
function normalize(value: unknown, known: Variables): unknown {
  if (typeof value === "string") {
    let text = value;
    for (const [name, id] of Object.entries(known))
      if (id.length > 8) text = text.replaceAll(id, `{${name}}`);
    return text
      .replaceAll(UUID, "<uuid>")
      .replaceAll(TIME, "<time>")
      .replaceAll(/\b[0-9a-f]{32}\b/g, "<hash>");
  }
  if (typeof value === "number" && value > 1_000_000_000_000) return "<ms>";
  if (Array.isArray(value)) return value.map(one => normalize(one, known));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [String(normalize(name, known)), normalize(one, known)]),
  );
}

/** Lines such as `body.values.a: 1 | 2`: theirs, then ours; `-` is an absent member. */
export function listDifferences(
  theirs: readonly [Reply, Variables],
  ours: readonly [Reply, Variables],
): readonly string[] {
  return [...differ(normalize(withoutUnasked(theirs[0]), theirs[1]), normalize(...ours), "")];
}

/** The other server sends the id of each checkpoint to callers that asked for subgraphs, in no documented mode. */
function withoutUnasked(reply: Reply): Reply {
  const isUnasked = ({ event = "", data }: { readonly event?: string; readonly data?: object }): boolean =>
    /^checkpoints(?:\||$)/.test(event) && !("values" in (data ?? {}));
  return Array.isArray(reply.body) ? { ...reply, body: reply.body.filter(one => !isUnasked(one)) } : reply;
}

function* differ(theirs: unknown, ours: unknown, path: string): Generator<string> {
  if (isRecord(theirs) && isRecord(ours)) {
    for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)]))
      yield* differ(theirs[name], ours[name], path === "" ? name : `${path}.${name}`);
  } else if (JSON.stringify(theirs) !== JSON.stringify(ours))
    yield `${path}: ${show(theirs)} | ${show(ours)}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const show = (value: unknown): string => (value === undefined ? "-" : JSON.stringify(value).slice(0, 160));
