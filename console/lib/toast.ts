import { signal } from "@preact/signals";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function toast(text: string, options: { isError?: boolean; action?: Toast["action"] } = {}): void {
  const id = (lastId += 1);
  toasts.value = [
    ...toasts.value.slice(-2),
    { id, text, isError: options.isError ?? false, action: options.action },
  ];
  setTimeout(() => dismiss(id), options.isError || options.action ? 8000 : 2500);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter(one => one.id !== id);
}
