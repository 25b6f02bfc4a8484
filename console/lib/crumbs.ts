import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visible } from "./format.ts";

export interface Crumb {
  readonly label: string;
  readonly href?: string;
}

/** Where the page is, for the top bar and the title of the window. */
export const crumbs = signal<readonly Crumb[]>([]);

export function useCrumbs(...trail: readonly (Crumb | string)[]): void {
  const all = trail.map(one =>
    typeof one === "string" ? { label: visible(one) } : { ...one, label: visible(one.label) },
  );
  const key = JSON.stringify(all);
  useEffect(() => {
    crumbs.value = JSON.parse(key) as Crumb[];
  }, [key]);
}
