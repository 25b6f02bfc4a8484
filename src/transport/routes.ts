import type { Dialect, Route } from "../ports.ts";

/** What answers at a path. */
export interface Place {
  readonly endpoint: string;
  readonly agent: string | undefined;
  readonly byVerb: ReadonlyMap<string, Route>;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly endpoint: string;
  readonly byVerb: Map<string, Route>;
}

/** The route table, made from what the dialects say about themselves. */
export function createRoutes(dialects: readonly Dialect[]): (path: string) => Place | null {
  const fixed = new Map<string, Pattern>();
  const open: Pattern[] = [];
  for (const route of dialects.flatMap(dialect => dialect.routes)) add(route);

  function add(route: Route): void {
    const known = fixed.get(route.path) ?? open.find(pattern => pattern.endpoint === route.path);
    const pattern = known ?? { segments: route.path.split("/"), endpoint: route.path, byVerb: new Map() };
    // The first dialect in the list names the method of a shared route; which one speaks is decided by its claim.
    if (!pattern.byVerb.has(route.verb)) pattern.byVerb.set(route.verb, route);
    if (known) return;
    if (route.path.includes("{")) open.push(pattern);
    else fixed.set(route.path, pattern);
  }

  return path => {
    // Official clients post with and without a trailing slash; a redirect would lose the body.
    const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const exact = fixed.get(bare);
    if (exact) return { endpoint: exact.endpoint, agent: undefined, byVerb: exact.byVerb };
    const segments = bare.split("/");
    for (const pattern of open) {
      const agent = matched(pattern.segments, segments);
      if (agent !== null) return { endpoint: pattern.endpoint, agent, byVerb: pattern.byVerb };
    }
    return null;
  };
}

/** The segment that stands for the agent, or null if the path is another one. */
function matched(pattern: readonly string[], segments: readonly string[]): string | null {
  if (pattern.length !== segments.length) return null;
  let agent = "";
  for (let i = 0; i < pattern.length; i++) {
    const wanted = pattern[i] as string;
    const given = segments[i] as string;
    if (wanted === given) continue;
    if (!wanted.startsWith("{") || given === "") return null;
    const decoded = decode(given);
    if (decoded === null) return null;
    agent = decoded;
  }
  return agent;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
