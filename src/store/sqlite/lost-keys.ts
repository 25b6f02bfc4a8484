import { readMark } from "./lost-store.ts";
import { countSealed } from "./maintenance/re-encrypt.ts";

/** Why keys that are missing must not be made anew; undefined: they may. */
export function whyKeysAreNeeded(folder: string): string | undefined {
  const sealed = [...countSealed(folder).values()].reduce((sum, one) => sum + one, 0);
  if (sealed > 0) return `secrets in the store (${sealed}) can only be read with the keys in it`;
  return readMark(folder)?.keyFile
    ? "the server that ran with this store signed with the keys in it"
    : undefined;
}

export const KEY_WAYS_OUT =
  "Put the key file back from where it is kept: a backup of the store does not have it. If the keys come from elsewhere, " +
  'give that option again (keys, keysCommand, keyFile); "dragoman doctor" tells which keys the store needs. To go on with ' +
  "new keys, start once with --accept-data-loss: then sealed secrets are lost, and cards that were signed can no longer be " +
  "checked.";
