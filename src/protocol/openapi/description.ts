import type { Json, JsonObject } from "../../lib/json.ts";
import type { ProtocolSchema } from "../protobuf/schema.ts";

/** The description of a dialect in the OpenAPI document, beside its routes. */
export interface ApiDescription {
  readonly title: string;
  /** The value of `A2A-Version`; undefined: callers need not send it. */
  readonly version?: string;
  /** JSON-RPC calls need the header Accept, and no version is read. */
  readonly accept?: true;
  /** Query parameters of documents whose path names no agent. */
  readonly documentQuery?: Readonly<Record<string, JsonObject>>;
  /** The agent of a route that names none; undefined: the default agent. */
  readonly unnamedAgent?: string;
  /** The messages of HTTP+JSON; a route takes those of each form that has its method. */
  readonly rest?: readonly ApiForm[];
  /** By method of HTTP+JSON or of a document, where there are no messages for it: one line, no full stop. */
  readonly summaries?: Readonly<Record<string, string>>;
  /** The messages of JSON-RPC; undefined: only the envelope is described. */
  readonly jsonRpc?: ApiForm;
  /** Messages of `jsonRpc`, by the method of a document route. */
  readonly documents?: Readonly<Record<string, string>>;
  /** A message of the first form of `rest`: an error without a JSON-RPC envelope. */
  readonly error?: string;
}

/** A schema whose rpcs are the methods of a transport. */
export interface ApiForm {
  /** Names of components begin with it: `V1Task`. */
  readonly prefix: string;
  readonly schema: ProtocolSchema;
  /** By method: one line, no full stop. */
  readonly summaries: Readonly<Record<string, string>>;
  /** JSON Schema keywords, by `Message` or `Message.field`. */
  readonly constraints?: Readonly<Record<string, JsonObject>>;
  /** Fields that a method needs and its request message leaves optional. */
  readonly requires?: Readonly<Record<string, readonly string[]>>;
  /** The request of a method that sends a message. */
  readonly example?: Json;
}
