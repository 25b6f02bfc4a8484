import { computed, signal } from "@preact/signals";

/**
 * The place in the console is the fragment of the URL: `#/tasks?agent=booking&state=failed`. The server therefore serves
 * one page, below any base path, and every state of the page is a link.
 */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decodeSegment), query: new URLSearchParams(query) };
}

/** A link that was cut off in the middle of an escape is still a link. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const place = signal<Place>(read());
export const viewName = computed(() => place.value.path[0] ?? "");

export function startRouter(): void {
  addEventListener("hashchange", () => {
    place.value = read();
  });
}

export type Query = Readonly<Record<string, string | undefined>>;

export function href(path: readonly string[], query: Query = {}): string {
  const known = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(known).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = href(path, query);
}

/** Changes members of the query of this place; `undefined` removes one. No new entry in the history: it is a refinement. */
export function setQuery(changes: Query): void {
  const query = Object.fromEntries(place.value.query);
  history.replaceState(null, "", href(place.value.path, { ...query, ...changes }));
  place.value = read();
}

export const inQuery = (name: string): string => place.value.query.get(name) ?? "";
