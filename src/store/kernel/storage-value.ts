import { Fault, LIMITS } from "../../model/index.ts";
import type { StorageChange } from "../../ports/index.ts";

/** The JSON of a value in agent storage, validated before any commit; undefined: the key is deleted. */
export function encodeStorageValue({ key, value }: StorageChange): string | undefined {
  if (key === "" || key.length > LIMITS.storageKeyCharsMax || key.includes("\0") || !key.isWellFormed())
    throw new Fault(
      "too-large",
      `A storage key has 1 to ${LIMITS.storageKeyCharsMax} characters of well-formed Unicode without NUL`,
    );
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  if (text === undefined || text.length > LIMITS.storageValueBytesMax)
    throw new Fault(
      "too-large",
      `A storage value is JSON of at most ${LIMITS.storageValueBytesMax} characters`,
    );
  return text;
}
