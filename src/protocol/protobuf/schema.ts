/** A package of gRPC, as data: see src/protocol/a2a-v1/schema.ts for how it is written. */
export interface Schema {
  readonly package: string;
  readonly service: string;
  /** By name: "TakenMessage: GivenMessage", or "TakenMessage: stream GivenMessage". */
  readonly rpcs: Readonly<Record<string, string>>;
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Names of values, from 0. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
}

/** One field of a message, as its line in the table says it. */
export interface FieldSpec {
  /** As JSON has it. */
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly form: "one" | "list" | "map";
  /** Absent is not the same as empty. */
  readonly optional: boolean;
  /** There is one of all that say so. */
  readonly exclusive: boolean;
}

const SPEC = /^(?:map<(\w+)>|(\w+)(\[\]|\?|\|)?) (\d+)$/;

export function fieldsOf(schema: Schema, message: string): readonly FieldSpec[] {
  return Object.entries(schema.messages[message] ?? {}).map(([name, spec]) => {
    const [, values, type, mark, number] = SPEC.exec(spec) ?? [];
    if (number === undefined) throw new Error(`${schema.package}.${message}.${name} cannot be read: ${spec}`);
    return {
      name,
      number: Number(number),
      type: (values ?? type) as string,
      form: values !== undefined ? "map" : mark === "[]" ? "list" : "one",
      optional: mark === "?",
      exclusive: mark === "|",
    };
  });
}
