import type { Json } from "../../lib/json.ts";
import type { Members, Schema } from "./schema.ts";

/** What is told of a dialect beyond its routes. */
export interface Vocabulary {
  /** For people. */
  readonly title: string;
  /** How callers name it in A2A-Version; undefined: they need not. */
  readonly version?: string;
  /** Whom a call is for where its path names nobody; undefined: the default agent. */
  readonly unnamed?: string;
  readonly schemas: Members;
  /** By the method of a route whose transport is "rest". */
  readonly rest: Readonly<Record<string, Method>>;
  /** By the name in a JSON-RPC call; none: only the envelope is told. */
  readonly rpc: Readonly<Record<string, Method>>;
  /** By the method of a route whose transport is "document". */
  readonly documents: Readonly<Record<string, Schema>>;
  /** What a refusal is where no envelope is around it. */
  readonly refusal: Schema;
}

export interface Method {
  /** One line, no full stop. */
  readonly summary: string;
  readonly needed: Members;
  readonly optional: Members;
  readonly answer: { readonly kind: "one" | "many"; readonly schema: Schema };
  /** It takes a message: a key and extensions may come with it. */
  readonly sends?: true;
  readonly example?: Json;
}
