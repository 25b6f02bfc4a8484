import type { Fault } from "../model/index.ts";
import type { Principal } from "../ports/index.ts";

type OnExpired = (fault: Fault) => void;

/** Checks at an interval whether the credentials of open streams are still valid: one check per principal. */
export function watchExpiry(parts: { readonly intervalMs: number; readonly fault: () => Fault }) {
  const watched = new Map<Principal, Set<OnExpired>>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      for (const [principal, callbacks] of watched) {
        const isValid = principal.isValid();
        if (isValid === true || (await isValid)) continue;
        for (const onExpired of callbacks) onExpired(parts.fault());
      }
    } catch {
      // The token store did not answer: the next check asks again.
    } finally {
      isChecking = false;
    }
  }

  function unwatch(principal: Principal, onExpired: OnExpired): void {
    const callbacks = watched.get(principal);
    if (!callbacks?.delete(onExpired) || callbacks.size > 0) return;
    watched.delete(principal);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    onExpire(principal: Principal, onExpired: OnExpired): () => void {
      const callbacks = watched.get(principal) ?? new Set<OnExpired>();
      watched.set(principal, callbacks.add(onExpired));
      timer ??= setInterval(() => void checkAll(), parts.intervalMs).unref();
      return () => unwatch(principal, onExpired);
    },
  };
}
