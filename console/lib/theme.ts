import { signal } from "@preact/signals";

const KEY = "dragoman-theme";
const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const isTheme = (text: string | null): text is Theme => THEMES.some(one => one === text);

/** A browser that forbids storage still has a console. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The setting lasts until the page is closed.
  }
}

export const theme = signal<Theme>("system");

export function startTheme(): void {
  const known = stored(KEY);
  setTheme(isTheme(known) ? known : "system");
}

export function setTheme(value: Theme): void {
  theme.value = value;
  store(KEY, value);
  if (value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

export function nextTheme(): void {
  setTheme(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system");
}
