import { LIMITS } from "../model/index.ts";

/**
 * Recently used secrets and what they stand for, so that a call needs no hash and no lookup. V8 finds a string by a hash
 * with a secret seed and compares strings only where the hashes are equal: the time tells nothing about a secret.
 */
export function createIdentityCache<T>() {
  const bySecret = new Map<string, T>();
  return {
    get: (secret: string): T | undefined => bySecret.get(secret),
    set(secret: string, value: T): T {
      bySecret.set(secret, value);
      // The oldest entry is evicted.
      if (bySecret.size > LIMITS.cachedCallersMax) bySecret.delete(bySecret.keys().next().value as string);
      return value;
    },
    delete: (secret: string): void => void bySecret.delete(secret),
  };
}
