import type { JsonObject } from "../../lib/json.ts";
import { Fault, LIMITS } from "../../model/index.ts";
import type { Item, ItemChange, ItemId, Namespace } from "../../ports/index.ts";

/** A namespace as a key: each label is followed by a period, so that a prefix of labels is a prefix of the text. */
export const toNamespaceKey = (namespace: Namespace): string => namespace.map(label => `${label}.`).join("");
export const fromNamespaceKey = (key: string): Namespace => key.split(".").slice(0, -1);

/** Sorts after every text with the same prefix. */
const LAST_CHARACTER = "\u{10ffff}";
export const endOfPrefix = (prefix: string): string => `${prefix}${LAST_CHARACTER}`;

/** A row of the table `item`, without its owner. */
export interface ItemRow {
  readonly namespace: string;
  readonly key: string;
  readonly value: string;
  readonly vectors: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number | null;
}

/** A change, encoded and checked before any commit. */
export interface ItemWrite {
  readonly namespace: string;
  readonly key: string;
  /** null: the item is deleted. */
  readonly value: string | null;
  readonly vectors: string | null;
  readonly ttlMs: number | null;
}

export function encodeItem(change: ItemChange): ItemWrite {
  checkItemId(change);
  const value = change.value === undefined ? null : JSON.stringify(change.value);
  if (value !== null && value.length > LIMITS.itemValueCharsMax)
    throw new Fault(
      "too-large",
      `The value of an item is JSON of at most ${LIMITS.itemValueCharsMax} characters`,
    );
  const vectors = change.vectors && change.vectors.length > 0 ? encodeVectors(change.vectors) : null;
  return { ...toItemKey(change), value, vectors, ttlMs: change.ttlMs ?? null };
}

export const toItemKey = ({ namespace, key }: ItemId) => ({ namespace: toNamespaceKey(namespace), key });

/** The store relies on it; callers get their errors earlier, in words of their protocol. */
function checkItemId({ namespace, key }: ItemId): void {
  const texts = [...namespace, key];
  const isValid =
    namespace.length > 0 &&
    namespace.length <= LIMITS.itemLabelsMax &&
    namespace.every(label => label !== "" && !label.includes(".")) &&
    texts.every(text => text.length <= LIMITS.itemKeyCharsMax && !text.includes("\0") && text.isWellFormed());
  if (!isValid || key === "")
    throw new Fault(
      "invalid-params",
      `A namespace has 1 to ${LIMITS.itemLabelsMax} labels without periods; labels and keys have 1 to ${LIMITS.itemKeyCharsMax} characters of well-formed Unicode without NUL`,
    );
}

export const decodeItem = (row: ItemRow): Item => ({
  namespace: fromNamespaceKey(row.namespace),
  key: row.key,
  value: JSON.parse(row.value) as JsonObject,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at ?? undefined,
  vectors: row.vectors === null ? [] : decodeVectors(row.vectors),
});

const encodeVectors = (vectors: readonly Float32Array[]): string =>
  vectors
    .map(vector => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64"))
    .join(" ");

const decodeVectors = (text: string): readonly Float32Array[] =>
  text.split(" ").map(encoded => new Float32Array(new Uint8Array(Buffer.from(encoded, "base64")).buffer));
