import type { Dialect, PathVars, Route } from "../ports.ts";

/** What answers at a path. */
export interface Place {
  readonly endpoint: string;
  readonly vars: PathVars;
  readonly byVerb: ReadonlyMap<string, Route>;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly endpoint: string;
  readonly byVerb: Map<string, Route>;
}

const NO_VARS: PathVars = Object.freeze({});

/** The route table, made from what the dialects say about themselves. */
export function createRoutes(dialects: readonly Dialect[]): (path: string) => Place | null {
  const fixed = new Map<string, Place & Pattern>();
  const open: Pattern[] = [];
  for (const route of dialects.flatMap(dialect => dialect.routes)) add(route);

  function add(route: Route): void {
    const known = fixed.get(route.path) ?? open.find(pattern => pattern.endpoint === route.path);
    const pattern = known ?? { segments: route.path.split("/"), endpoint: route.path, byVerb: new Map() };
    // The first dialect in the list names the method of a shared route; which one speaks is decided by its claim.
    if (!pattern.byVerb.has(route.verb)) pattern.byVerb.set(route.verb, route);
    if (known) return;
    if (route.path.includes("{")) open.push(pattern);
    else fixed.set(route.path, { ...pattern, vars: NO_VARS });
  }

  return path => {
    // Official clients post with and without a trailing slash; a redirect would lose the body.
    const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const exact = fixed.get(bare);
    if (exact) return exact;
    const segments = bare.split("/");
    for (const pattern of open) {
      const vars = matched(pattern.segments, segments);
      if (vars) return { endpoint: pattern.endpoint, vars, byVerb: pattern.byVerb };
    }
    return null;
  };
}

/** The segments that stand for names in braces, or null if the path is another one. */
function matched(pattern: readonly string[], segments: readonly string[]): PathVars | null {
  if (pattern.length !== segments.length) return null;
  const vars: Record<string, string> = {};
  for (let i = 0; i < pattern.length; i++) {
    const wanted = pattern[i] as string;
    const given = segments[i] as string;
    if (wanted === given) continue;
    if (!wanted.startsWith("{") || given === "") return null;
    const decoded = decode(given);
    if (decoded === null) return null;
    vars[wanted.slice(1, -1)] = decoded;
  }
  return vars;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
