import type { ContextStorage, StorageRange, StoredItem } from "../../ports/index.ts";

/** Reads all items of a range, page by page. */
export async function* readItems(
  storage: ContextStorage,
  range: Omit<StorageRange, "max">,
  pageSize: number,
): AsyncGenerator<StoredItem> {
  for (let next: StorageRange = { ...range, max: pageSize }; ; ) {
    const page = await storage.list(next);
    yield* page;
    if (page.length < pageSize) return;
    next = { ...next, beyond: page.at(-1)?.key as string };
  }
}

export const deleteKeys = (storage: ContextStorage, keys: readonly string[]): Promise<void> =>
  storage.put(keys.map(key => ({ key, value: undefined })));

export async function deletePrefix(storage: ContextStorage, prefix: string, pageSize: number): Promise<void> {
  for (;;) {
    const page = await storage.list({ prefix, max: pageSize });
    if (page.length > 0)
      await deleteKeys(
        storage,
        page.map(({ key }) => key),
      );
    if (page.length < pageSize) return;
  }
}
