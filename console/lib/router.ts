import { computed, signal } from "@preact/signals";

/**
 * The place in the console is the path below its base, and the query: `tasks?agent=booking&state=failed`. Every state of
 * the page is a link. The base is `document.baseURI`, so the console works below any path.
 */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const BASE = new URL(".", document.baseURI).pathname;

function read(): Place {
  const below = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "";
  return {
    path: below.split("/").filter(Boolean).map(decodeSegment),
    query: new URLSearchParams(location.search),
  };
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
  addEventListener("popstate", () => {
    place.value = read();
  });
  addEventListener("click", event => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !url.pathname.startsWith(BASE)) return;
    event.preventDefault();
    if (url.href !== location.href) history.pushState(null, "", url);
    place.value = read();
  });
}

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export function href(path: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === "string" ? [value] : (value ?? [])) if (one) search.append(name, one);
  const text = search.toString();
  return `${BASE}${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

export function go(path: readonly string[], query: Query = {}): void {
  history.pushState(null, "", href(path, query));
  place.value = read();
}

/** The same place by another address: the back key does not return to the old one. */
export function replace(path: readonly string[], query: Query = {}): void {
  history.replaceState(null, "", href(path, query));
  place.value = read();
}

/** Changes members of the query of this place; `undefined` removes one. No new entry in the history: it is a refinement. */
export function setQuery(changes: Query): void {
  const query: Record<string, string | readonly string[] | undefined> = {};
  for (const name of place.value.query.keys()) query[name] = place.value.query.getAll(name);
  replace(place.value.path, { ...query, ...changes });
}

export const inQuery = (name: string): string => place.value.query.get(name) ?? "";
/** One of `choices`; the first one if the address names none of them. */
export const chosenInQuery = <T extends string>(name: string, choices: readonly [T, ...T[]]): T =>
  choices.find(choice => choice === inQuery(name)) ?? choices[0];
export const allInQuery = (name: string): readonly string[] => place.value.query.getAll(name);
