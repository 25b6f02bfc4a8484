import { join } from "node:path";
import type { Signer, Vault } from "../ports.ts";
import { openKeyFile } from "./file.ts";
import { createRing, type KeyRing } from "./ring.ts";
import { createSigner } from "./signer.ts";
import { createVault } from "./vault.ts";

export { KeyRefusal } from "./file.ts";

export interface KeyParts {
  /** The data folder, or ":memory:": then the keys go with the process. */
  readonly data: string;
  readonly now: () => number;
}

/** What the server seals and signs with. */
export function createKeys({ data, now }: KeyParts): { readonly vault: Vault; readonly signer: Signer } {
  let ring: KeyRing | undefined;
  const open = (): KeyRing =>
    (ring ??= data === ":memory:" ? createRing(now()) : openKeyFile(join(data, "keys.json"), now));
  return { vault: createVault(open), signer: createSigner(open) };
}
