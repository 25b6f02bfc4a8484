/**
 * The messages of one protocol version as data: the one place that spells its names. The protobuf codec, the OpenAPI
 * document, the client and the canonical form of cards read it.
 *
 * A field is `type`, marks, number and, after a colon, its description: `"Part[]! 5: At least one"`.
 *
 * - type: `string`, `url` (a string), `bytes`, `bool`, `int32`, `count` (an int32 that is not negative), `int64`
 *   (a string of digits), `Struct`, `Value`, `Timestamp`, `Any`, a message or an enum of this schema, `map<type>` with strings as keys, or a constant in
 *   quotes (`'task'`)
 * - `[]` repeated; `?` optional: absent differs from empty; `|` oneof: exactly one of the fields with this mark
 * - `!` required by the specification; `+` not required, but this server always sends it
 * - no number: the field is in the JSON form only
 */
export interface ProtocolSchema {
  /** By name: "RequestMessage: ResponseMessage", or "RequestMessage: stream ResponseMessage". */
  readonly rpcs: Readonly<Record<string, string>>;
  /** Fields by their JSON name; a string is a union, such as "Task | Message". */
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>> | string>>;
  /** The names of the values, from 0. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Enums whose values are strings in protobuf, too. */
  readonly stringEnums?: Readonly<Record<string, readonly string[]>>;
}

/** A schema with a gRPC service. */
export interface ProtobufSchema extends ProtocolSchema {
  readonly package: string;
  readonly service: string;
}

export interface Field {
  /** As JSON has it. */
  readonly name: string;
  readonly type: string;
  readonly form: "one" | "list" | "map";
  /** undefined: the field is not in the protobuf message. */
  readonly number: number | undefined;
  readonly optional: boolean;
  readonly oneof: boolean;
  readonly required: boolean;
  readonly alwaysSent: boolean;
  readonly description: string | undefined;
}

const FIELD = /^(map<([\w[\]]+)>|\w+|'[\w-]+')(\[\])?([?|!+]*)(?: (\d+))?(?:: (.+))?$/;

/** The fields of a message; a message that the schema does not have has none. */
export function fieldsOf(schema: ProtocolSchema, message: string): readonly Field[] {
  const fields = schema.messages[message];
  if (typeof fields !== "object") return [];
  return Object.entries(fields).map(([name, spec]): Field => {
    const [, type, values, list, marks = "", number, description] = FIELD.exec(spec) ?? [];
    if (type === undefined) throw new Error(`Invalid field ${message}.${name}: ${spec}`);
    return {
      name,
      type: list ? type : (values ?? type),
      form: list ? "list" : values !== undefined ? "map" : "one",
      number: number === undefined ? undefined : Number(number),
      optional: marks.includes("?"),
      oneof: marks.includes("|"),
      required: marks.includes("!"),
      alwaysSent: marks.includes("+"),
      description,
    };
  });
}

export interface Rpc {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  readonly streams: boolean;
}

const RPC = /^(\w+): (stream )?([\w[\]]+)$/;

export function rpcsOf(schema: ProtocolSchema): readonly Rpc[] {
  return Object.entries(schema.rpcs).map(([name, spec]) => {
    const [, request, stream, response] = RPC.exec(spec) ?? [];
    if (request === undefined || response === undefined) throw new Error(`Invalid rpc ${name}: ${spec}`);
    return { name, request, response, streams: stream !== undefined };
  });
}
