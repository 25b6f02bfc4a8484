import type { Fault } from "../model/index.ts";
import type { Principal } from "../ports/index.ts";

type Lapsed = (fault: Fault) => void;

/** Looks now and then whether those who are still reading are still known: one look for all of them. */
export function createLapses(parts: { readonly lookMs: number; readonly fault: () => Fault }) {
  const held = new Map<Principal, Set<Lapsed>>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      for (const [principal, ears] of held) {
        const good = principal.isValid();
        if (good === true || (await good)) continue;
        for (const lapsed of ears) lapsed(parts.fault());
      }
    } catch {
      // Whoever cannot be asked now is asked again at the next look.
    } finally {
      looking = false;
    }
  }

  function forget(principal: Principal, lapsed: Lapsed): void {
    const ears = held.get(principal);
    if (!ears?.delete(lapsed) || ears.size > 0) return;
    held.delete(principal);
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    onLapse(principal: Principal, lapsed: Lapsed): () => void {
      const ears = held.get(principal) ?? new Set<Lapsed>();
      held.set(principal, ears.add(lapsed));
      timer ??= setInterval(() => void look(), parts.lookMs).unref();
      return () => forget(principal, lapsed);
    },
  };
}
