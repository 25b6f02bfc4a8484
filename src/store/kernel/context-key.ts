import { timeKey } from "../../model/index.ts";

/** An integer for a context id: the time inside one of ours, else a 52-bit hash; the text is compared as well. */
export function contextKey(contextId: string): number {
  const minted = timeKey(contextId);
  if (minted !== null) return minted;
  // FNV-1a in two lanes of 26 bits: cheap, and a collision costs one extra row read.
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let i = 0; i < contextId.length; i++) {
    low = Math.imul(low ^ contextId.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ contextId.charCodeAt(i), 0x85ebca6b);
  }
  return (low >>> 6) * 0x4000000 + (high >>> 6);
}
