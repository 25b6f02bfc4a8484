import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Encryption } from "../ports/index.ts";

/** What an agent asked for, in which task of whom. */
export interface Ask {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly taskId: string;
  /** The message that asks: when it has been answered, the slip is worth nothing. */
  readonly messageId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}
/** A visit to a provider that has begun. */
export interface Visit extends Ask {
  readonly verifier: string;
  /** The same must be told when the code is exchanged. */
  readonly redirectUri: string;
  /** The browser that began it knows this, and nobody else. */
  readonly nonce: string;
  readonly expiresAt: number;
}

type Kind = "ask" | "visit";

/** Facts that go through the hands of others: they can neither read them nor write their own. */
export function createSlips(vault: Encryption) {
  const write = (kind: Kind, facts: Ask | Visit): string => vault.encrypt(JSON.stringify({ ...facts, kind }));

  /** undefined: not from here, or for another purpose. */
  function read(kind: Kind, slip: string): JsonObject | undefined {
    try {
      const facts = JSON.parse(vault.decrypt(slip)) as Json;
      return isObject(facts) && facts.kind === kind ? facts : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    writeAsk: (ask: Ask): string => write("ask", ask),
    writeVisit: (visit: Visit): string => write("visit", visit),
    readAsk: (slip: string): Ask | undefined => read("ask", slip) as Ask | undefined,
    readVisit: (slip: string): Visit | undefined => read("visit", slip) as Visit | undefined,
  };
}
export type Slips = ReturnType<typeof createSlips>;
