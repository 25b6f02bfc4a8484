import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { go } from "./router.ts";
import { nextTheme } from "./theme.ts";

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);

export interface KeyAction {
  readonly key: string;
  readonly label: string;
  readonly run: () => unknown;
  /** Also while a field has the focus (only for keys that type nothing). */
  readonly inFields?: boolean;
}

/** The keys of the view that is shown: in the palette and in the help, too. */
export const viewKeys = signal<readonly KeyAction[]>([]);

/**
 * Registers keys while the component is shown; `actions` may be new at each rendering. A key does what the last rendering
 * says, also if the next one comes before the browser has drawn it.
 */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  const names = actions.map(({ key, label, inFields }) => `${key} ${label} ${inFields ?? false}`).join("\n");
  useLayoutEffect(() => {
    const own = latest.current.map(action => ({
      ...action,
      run: () => latest.current.find(one => one.key === action.key)?.run(),
    }));
    viewKeys.value = [...viewKeys.peek(), ...own];
    return () => {
      viewKeys.value = viewKeys.peek().filter(one => !own.includes(one));
    };
  }, [names]);
}

export const PLACES: readonly (readonly [key: string, path: string, label: string, icon: string])[] = [
  ["c", "chat", "Chat", "chat"],
  ["t", "tasks", "Tasks", "tasks"],
  ["i", "inbox", "Inbox", "inbox"],
  ["a", "agents", "Agents", "agents"],
  ["d", "deliveries", "Deliveries", "send"],
  ["s", "server", "Server", "server"],
  ["h", "docs", "Docs", "docs"],
];

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

let pendingG = 0;

export function startKeys(): void {
  addEventListener("keydown", event => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isPaletteOpen.value) return;
    const isField = inField(event.target);
    const action = viewKeys.value.findLast(
      one => one.key.toLowerCase() === event.key.toLowerCase() && (!isField || one.inFields),
    );
    const isDialog = document.querySelector("dialog[open]") !== null;
    if (isField || isDialog) {
      if (action?.inFields && !isDialog) run(event, action.run);
      return;
    }
    if (Date.now() - pendingG < 1200) {
      pendingG = 0;
      const to = PLACES.find(([key]) => key === event.key.toLowerCase());
      if (to) return run(event, () => go([to[1]]));
    }
    if (event.key === "g") {
      pendingG = Date.now();
      return;
    }
    if (action) return run(event, action.run);
    if (event.key === "?") run(event, () => (isHelpOpen.value = true));
    else if (event.key === "t") run(event, nextTheme);
    else if (event.key === "/")
      run(event, () => document.querySelector<HTMLElement>("main [data-find]")?.focus());
  });
}

function run(event: KeyboardEvent, action: () => unknown): void {
  event.preventDefault();
  action();
}
