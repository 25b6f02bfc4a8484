import type { CallerName } from "../../ports/index.ts";

/** A kind's number on disk; an alias, which is not the name of a call, stands in the row of its task. */
export const KINDS: Readonly<Record<CallerName["kind"], number>> = { alias: 0, key: 1, message: 2 };
