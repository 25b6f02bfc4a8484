import type { Probe } from "./probe.ts";

/** Fails if the statement does not hold. */
export type Check = (probe: Probe) => Promise<unknown>;

/** A test elsewhere in the tree: its file, and a part of its text, which is usually the name of the test. */
export interface Elsewhere {
  readonly file: string;
  readonly name: string;
}

/** Where a statement does not hold, and why. */
export interface Difference {
  readonly profiles: readonly ("on" | "strict")[];
  readonly reason: string;
}

/** A statement of a document in words of our own, its proof, and where it does not hold. */
export type Statement = readonly [text: string, proof: Check | Elsewhere, differs?: Difference];

/** The statements of one section of a document. */
export interface Section {
  readonly title: string;
  readonly statements: readonly Statement[];
}

export interface VendorDocument {
  /** As docs/dialects/README.md has it. */
  readonly name: string;
  readonly page: string;
  readonly sections: readonly Section[];
}

export const byDefault = (reason: string): Difference => ({ profiles: ["on"], reason });
export const always = (reason: string): Difference => ({ profiles: ["on", "strict"], reason });
