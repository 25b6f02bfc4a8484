import type { Settings } from "../../config/config.ts";
import { formatCount } from "../terminal/text.ts";
import { isDatabase } from "./open-store.ts";

/** What is wrong with the keys of a server, as far as its store needs them. Keys that are in no file are not looked at. */
export async function findKeyTrouble(settings: Settings): Promise<readonly string[]> {
  const { keyFileOf, readKeyFile, listKeys } = await import("../../keys/index.ts");
  const { countEncrypted, findKeyUse } = await import("../../store/sqlite/index.ts");
  const file = keyFileOf(settings);
  if (file === undefined || isDatabase(settings.data)) return [];
  try {
    const ring = readKeyFile(file);
    if (!ring) {
      const why = findKeyUse(settings.data);
      return why === undefined ? [] : [`there is no key file ${file}, but ${why}`];
    }
    const sealed = countEncrypted(settings.data);
    const known = listKeys(ring).map(({ id }) => id);
    return [...sealed]
      .filter(([id]) => !known.includes(id))
      .map(([id, secrets]) => `${formatCount(secrets, "secret")} of the key ${id}, which is not in ${file}`);
  } catch (error) {
    return [(error as Error).message];
  }
}
