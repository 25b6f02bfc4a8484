import { createKindMethods } from "../shared/kind-methods.ts";
import type { Methods } from "../shared/methods.ts";

/** v0.2 §7: every method, and what it asks for. The list of push configurations and their end came with 0.2.5. */
export const METHODS: Methods = createKindMethods("v02");
