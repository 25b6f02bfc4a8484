import type { Scope } from "../../model/index.ts";

/** Restores the scope that was authorized when a row was written. */
export const toStoredScope = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): Scope =>
  ({ tenant, principal }) as Scope;
