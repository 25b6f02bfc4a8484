import type { Dialect, Endpoint, PathVars, Route } from "../ports/index.ts";

/** What answers at a path. */
export interface RouteMatch {
  readonly endpoint: string;
  readonly vars: PathVars;
  readonly byVerb: ReadonlyMap<string, Route | OwnRoute>;
}

/** What the server itself answers. */
export interface OwnRoute {
  readonly transport: "own";
  readonly verb: Endpoint["verb"];
  readonly path: string;
  readonly own: Endpoint;
}

/** All paths that begin alike; one segment leads to the next of them. */
interface Branch {
  readonly fixed: Map<string, Branch>;
  /** A name with a verb behind it, as in `{id}:cancel`: by the verb, with its colon. */
  readonly verbs: Map<string, Branch>;
  named: Branch | undefined;
  here: Pattern | undefined;
}

interface Pattern {
  readonly endpoint: string;
  readonly names: readonly string[];
  readonly byVerb: Map<string, Route | OwnRoute>;
}

/** The route table, made from what the dialects say about themselves, and what the server has beside them. */
export function createRoutes(
  dialects: readonly Dialect[],
  own: readonly Endpoint[],
): (path: string) => RouteMatch | null {
  const root = createBranch();
  for (const route of dialects.flatMap(dialect => dialect.routes)) add(root, route);
  for (const one of own) add(root, { transport: "own", verb: one.verb, path: one.path, own: one });
  return path => {
    const segments = path.split("/");
    // Official clients post with and without a trailing slash; a redirect would lose the body.
    if (segments.length > 2 && segments.at(-1) === "") segments.pop();
    return find(root, segments);
  };
}

const createBranch = (): Branch => ({
  fixed: new Map(),
  verbs: new Map(),
  named: undefined,
  here: undefined,
});

const NAME = /^\{(\w+)\}(:\w+)?$/;

function add(root: Branch, route: Route | OwnRoute): void {
  const names: string[] = [];
  let branch = root;
  for (const segment of route.path.split("/").slice(1)) {
    const [, name, verb] = NAME.exec(segment) ?? [];
    if (name === undefined) branch = grow(branch.fixed, segment);
    else {
      names.push(name);
      branch = verb === undefined ? (branch.named ??= createBranch()) : grow(branch.verbs, verb);
    }
  }
  const here = (branch.here ??= { endpoint: route.path, names, byVerb: new Map() });
  if (here.endpoint !== route.path) throw new Error(`${route.path} is the same path as ${here.endpoint}`);
  // The first dialect in the list names the method of a shared route; which one speaks is decided by its claim.
  if (!here.byVerb.has(route.verb)) here.byVerb.set(route.verb, route);
}

function grow(from: Map<string, Branch>, key: string): Branch {
  const branch = from.get(key) ?? createBranch();
  from.set(key, branch);
  return branch;
}

function find(root: Branch, segments: readonly string[]): RouteMatch | null {
  const values: string[] = [];
  let branch: Branch | undefined = root;
  for (let i = 1; branch && i < segments.length; i++) branch = enter(branch, segments[i] as string, values);
  const here = branch?.here;
  const vars = here && toVars(here.names, values);
  return vars ? { endpoint: here.endpoint, vars, byVerb: here.byVerb } : null;
}

/**
 * A fixed segment wins over a name with a verb, and that over a name, whatever the order in the list. There is no way
 * back: what is fixed in one path is nobody's name in another.
 */
function enter(branch: Branch, segment: string, values: string[]): Branch | undefined {
  const fixed = branch.fixed.get(segment);
  if (fixed || segment === "") return fixed;
  const colon = branch.verbs.size > 0 ? segment.lastIndexOf(":") : -1;
  const verb = colon > 0 ? branch.verbs.get(segment.slice(colon)) : undefined;
  values.push(verb ? segment.slice(0, colon) : segment);
  return verb ?? branch.named;
}

const NO_VARS: PathVars = Object.freeze({});

/** null: one of them is not well encoded. */
function toVars(names: readonly string[], values: readonly string[]): PathVars | null {
  if (names.length === 0) return NO_VARS;
  const vars: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) {
    const value = decode(values[i] as string);
    if (value === null) return null;
    vars[names[i] as string] = value;
  }
  return vars;
}

function decode(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
