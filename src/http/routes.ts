import type { Dialect, Endpoint, PathVars, Route } from "../ports/index.ts";

/** The routes at one path. */
export interface RouteMatch {
  readonly endpoint: string;
  readonly vars: PathVars;
  readonly byVerb: ReadonlyMap<string, Route | EndpointRoute>;
}

/** A route to an endpoint of the server itself. */
export interface EndpointRoute {
  readonly transport: "endpoint";
  readonly verb: Endpoint["verb"];
  readonly path: string;
  readonly target: Endpoint;
}

/** A node of the tree of paths; each segment of a path leads to a child. */
interface RouteNode {
  readonly fixed: Map<string, RouteNode>;
  /** A variable with a suffix, as in `{id}:cancel`: by the suffix, with its colon. */
  readonly suffixed: Map<string, RouteNode>;
  variable: RouteNode | undefined;
  pattern: RoutePattern | undefined;
}

interface RoutePattern {
  readonly endpoint: string;
  readonly names: readonly string[];
  readonly byVerb: Map<string, Route | EndpointRoute>;
}

/** The route table: the routes of the dialects and the endpoints of the server. */
export function createRoutes(
  dialects: readonly Dialect[],
  endpoints: readonly Endpoint[],
): (path: string) => RouteMatch | null {
  const root = createNode();
  for (const route of dialects.flatMap(dialect => dialect.routes)) add(root, route);
  for (const target of endpoints)
    add(root, { transport: "endpoint", verb: target.verb, path: target.path, target });
  return path => {
    const segments = path.split("/");
    // Official clients post with and without a trailing slash; a redirect would lose the body.
    if (segments.length > 2 && segments.at(-1) === "") segments.pop();
    return find(root, segments);
  };
}

const createNode = (): RouteNode => ({
  fixed: new Map(),
  suffixed: new Map(),
  variable: undefined,
  pattern: undefined,
});

const VARIABLE = /^\{(\w+)\}(:\w+)?$/;

function add(root: RouteNode, route: Route | EndpointRoute): void {
  const names: string[] = [];
  let node = root;
  for (const segment of route.path.split("/").slice(1)) {
    const [, name, suffix] = VARIABLE.exec(segment) ?? [];
    if (name === undefined) node = getOrCreate(node.fixed, segment);
    else {
      names.push(name);
      node = suffix === undefined ? (node.variable ??= createNode()) : getOrCreate(node.suffixed, suffix);
    }
  }
  const pattern = (node.pattern ??= { endpoint: route.path, names, byVerb: new Map() });
  if (pattern.endpoint !== route.path)
    throw new Error(`${route.path} is the same path as ${pattern.endpoint}`);
  // Dialects may share a route: the first one in the list names its method, and `claims` decides which one gets the call.
  if (!pattern.byVerb.has(route.verb)) pattern.byVerb.set(route.verb, route);
}

function getOrCreate(children: Map<string, RouteNode>, key: string): RouteNode {
  const node = children.get(key) ?? createNode();
  children.set(key, node);
  return node;
}

function find(root: RouteNode, segments: readonly string[]): RouteMatch | null {
  const values: string[] = [];
  let node: RouteNode | undefined = root;
  for (let i = 1; node && i < segments.length; i++) node = findChild(node, segments[i] as string, values);
  const pattern = node?.pattern;
  const vars = pattern && toVars(pattern.names, values);
  return vars ? { endpoint: pattern.endpoint, vars, byVerb: pattern.byVerb } : null;
}

/**
 * A fixed segment wins over a variable with a suffix, and that over a plain variable, whatever the order of the routes.
 * There is no backtracking: a fixed segment is never taken for the value of a variable.
 */
function findChild(node: RouteNode, segment: string, values: string[]): RouteNode | undefined {
  const fixed = node.fixed.get(segment);
  if (fixed || segment === "") return fixed;
  const colon = node.suffixed.size > 0 ? segment.lastIndexOf(":") : -1;
  const suffixed = colon > 0 ? node.suffixed.get(segment.slice(colon)) : undefined;
  values.push(suffixed ? segment.slice(0, colon) : segment);
  return suffixed ?? node.variable;
}

const NO_VARS: PathVars = Object.freeze({});

/** null: a value is not valid percent-encoding. */
function toVars(names: readonly string[], values: readonly string[]): PathVars | null {
  if (names.length === 0) return NO_VARS;
  const vars: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) {
    const value = values[i] as string;
    try {
      vars[names[i] as string] = value.includes("%") ? decodeURIComponent(value) : value;
    } catch {
      return null;
    }
  }
  return vars;
}
