import { signal } from "@preact/signals";

export const isTokenOpen = signal(false);
