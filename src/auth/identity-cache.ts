import { LIMITS } from "../model/index.ts";

/**
 * Who was known by a secret a moment ago, so that it need not be hashed and looked up at every call. The engine finds a
 * text by a hash with a seed that nobody knows, and compares texts only where the hashes are the same: how long that
 * takes tells nothing about a secret.
 */
export function createKnown<T>() {
  const bySecret = new Map<string, T>();
  return {
    get: (secret: string): T | undefined => bySecret.get(secret),
    keep(secret: string, value: T): T {
      bySecret.set(secret, value);
      // The one that was met first goes.
      if (bySecret.size > LIMITS.knownCallersMax) bySecret.delete(bySecret.keys().next().value as string);
      return value;
    },
    forget: (secret: string): void => void bySecret.delete(secret),
  };
}
