import { timeKey } from "../../model/index.ts";

/**
 * The integer that indexes a context id: the timestamp inside an id that the server generated, or a 52-bit hash of an id
 * that the caller chose. Queries compare the text as well.
 */
export function contextKey(contextId: string): number {
  const generated = timeKey(contextId);
  if (generated !== null) return generated;
  // FNV-1a in two lanes of 26 bits: cheap, and a collision costs one extra row read.
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let i = 0; i < contextId.length; i++) {
    low = Math.imul(low ^ contextId.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ contextId.charCodeAt(i), 0x85ebca6b);
  }
  return (low >>> 6) * 0x4000000 + (high >>> 6);
}
