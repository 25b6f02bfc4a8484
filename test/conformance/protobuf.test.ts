import { LegacyA2AService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/lib/json.ts";
import { V1_SCHEMA as V1 } from "../../src/protocol/a2a-v1/schema.ts";
import { V03_SCHEMA as V03 } from "../../src/protocol/a2a-v03/schema.ts";
import { createCodecs } from "../../src/protocol/protobuf/codec.ts";
import { type Field, fieldsOf, type ProtobufSchema, rpcsOf } from "../../src/protocol/protobuf/schema.ts";
import { createJudges } from "../support/bufbuild.ts";

/**
 * The official SDK decodes our messages and encodes them again: a field with another number or another type
 * gets lost.
 */

const SAMPLES: Readonly<Record<string, Json>> = {
  string: "text",
  url: "https://a.example/",
  bytes: "AAEC",
  bool: true,
  int32: 7,
  count: 7,
  Struct: { a: [1, "b", { c: true }] },
  Value: ["d"],
  Timestamp: "2026-01-31T12:00:00.123Z",
};
/** Fields that other SDKs have and this one has not. */
const NOT_THERE: ReadonlySet<string> = new Set([
  "a2a.v1.Part.metadata",
  "a2a.v1.FilePart.name",
  "a2a.v1.AgentCard.iconUrl",
]);

/** A message with all its fields; of a oneof, the field with this index. */
function sample(schema: ProtobufSchema, name: string, turn: number): JsonObject {
  const fields = numberedFields(schema, name).filter(
    field => !NOT_THERE.has(`${schema.package}.${name}.${field.name}`),
  );
  const choices = fields.filter(field => field.oneof);
  const chosen = choices[turn % Math.max(1, choices.length)];
  return Object.fromEntries(
    fields
      .filter(field => !field.oneof || field === chosen)
      .map(field => [field.name, value(schema, field, turn)]),
  );
}

const numberedFields = (schema: ProtobufSchema, name: string): readonly Field[] =>
  fieldsOf(schema, name).filter(field => field.number !== undefined);

function value(schema: ProtobufSchema, { type, form }: Field, turn: number): Json {
  const words = schema.stringEnums?.[type] ?? schema.enums[type]?.slice(1);
  const one = SAMPLES[type] ?? words?.[turn % 2] ?? sample(schema, type, turn);
  if (form === "map") return { key: one };
  return form === "list" ? [one, one] : one;
}

interface Definition {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  requestSerialize(value: unknown): Buffer;
  requestDeserialize(bytes: Buffer): unknown;
  responseSerialize(value: unknown): Buffer;
  responseDeserialize(bytes: Buffer): unknown;
}
const OFFICIAL: readonly (readonly [ProtobufSchema, Readonly<Record<string, Definition>>])[] = [
  [V1, A2AService as unknown as Record<string, Definition>],
  [V03, LegacyA2AService as unknown as Record<string, Definition>],
];

describe.each(OFFICIAL)("$package", (schema, official) => {
  const codecs = createCodecs(schema);
  const rpcs = rpcsOf(schema);

  test("has the methods of the official SDK, and no others", () => {
    const paths = Object.values(official).map(({ path, responseStream }) => [path, responseStream]);
    const ours = rpcs.map(({ name, streams }) => [`/${schema.package}.${schema.service}/${name}`, streams]);
    expect(ours.sort()).toEqual(paths.sort());
  });

  test.each(rpcs)(
    "every field of $name is decoded, and encoded again",
    ({ name, request: takes, response: gives }) => {
      const definition = Object.values(official).find(one => one.path.endsWith(`/${name}`)) as Definition;
      for (let turn = 0; turn < 6; turn++) {
        const request = sample(schema, takes, turn);
        const sent = codecs(takes).encode(request);
        const reencoded = definition.requestSerialize(definition.requestDeserialize(sent));
        expect(codecs(takes).decode(reencoded)).toEqual(request);
        const reply = sample(schema, gives, turn);
        const encoded = codecs(gives).encode(reply);
        const read = definition.responseSerialize(definition.responseDeserialize(encoded));
        expect(codecs(gives).decode(read)).toEqual(reply);
      }
    },
  );
});

/** Any message of a schema, with any of its fields. */
function anyOf(schema: ProtobufSchema, name: string, depth: number): fc.Arbitrary<object> {
  const fields = numberedFields(schema, name).filter(({ type }) => depth > 0 || !(type in schema.messages));
  const chosen = fields.filter(field => field.oneof);
  const others = fields.filter(field => !field.oneof);
  const values = (some: typeof fields) =>
    fc.record(Object.fromEntries(some.map(field => [field.name, anyValue(schema, field, depth)])), {
      requiredKeys: [],
    });
  const one = chosen.length === 0 ? fc.constant({}) : fc.oneof(...chosen.map(field => values([field])));
  return fc.tuple(values(others), one).map(([some, choice]) => ({ ...some, ...choice }));
}

const TEXT = fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 30, maxLength: 300 }));
const JSON_VALUE = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)));
const ANY: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: TEXT,
  url: TEXT,
  bytes: fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes).toString("base64")),
  bool: fc.boolean(),
  int32: fc.integer(),
  count: fc.integer(),
  Value: JSON_VALUE,
  Struct: fc.dictionary(TEXT, JSON_VALUE),
  Timestamp: fc
    .tuple(
      fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
      fc.constantFrom("", ".5", ".012345678"),
    )
    .map(([seconds, part]) => `${new Date(seconds * 1000).toISOString().slice(0, -5)}${part}Z`),
};

function anyValue(schema: ProtobufSchema, field: Field, depth: number) {
  const one =
    ANY[field.type] ??
    (schema.stringEnums?.[field.type] && TEXT) ??
    (schema.enums[field.type] && fc.constantFrom(...(schema.enums[field.type] as string[]))) ??
    anyOf(schema, field.type, depth - 1);
  if (field.form === "map") return fc.dictionary(TEXT, one, { maxKeys: 3 });
  return field.form === "list" ? fc.array(one, { maxLength: 3 }) : one;
}

describe.each([V1, V03] as const)("$package, and a general protobuf library", schema => {
  const ours = createCodecs(schema);
  const theirs = createJudges(schema);
  const names = [...new Set(rpcsOf(schema).flatMap(({ request, response }) => [request, response]))];
  const any = fc
    .constantFrom(...names.filter(name => name in schema.messages))
    .chain(name => anyOf(schema, name, 4).map(value => [name, JSON.stringify(value)] as const));

  test("encode and decode any message alike", () => {
    fc.assert(
      fc.property(any, ([name, json]) => {
        const bytes = ours(name).encode(JSON.parse(json));
        const expected = theirs(name).encode(json);
        expect(bytes.length).toBe(expected.length);
        const meaning = theirs(name).decode(expected);
        expect(theirs(name).decode(bytes)).toEqual(meaning);
        expect(ours(name).decode(expected)).toEqual(meaning);
      }),
      { numRuns: 300 },
    );
  });

  test("damaged bytes are refused, or decoded to a message that can be encoded again", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat({ max: 3 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(any, damage, ([name, json], blows) => {
        let bytes = ours(name).encode(JSON.parse(json));
        for (const [at, byte, how] of blows) bytes = strike(bytes, at, byte, how);
        let meaning: unknown;
        try {
          meaning = ours(name).decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        const again = ours(name).encode(meaning as Json);
        expect(ours(name).decode(again)).toEqual(meaning);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** One byte changed, inserted, or removed, or the message truncated there. */
function strike(bytes: Buffer, where: number, byte: number, how: number): Buffer {
  const at = where % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  if (how === 0) return Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
  if (how === 1) return Buffer.concat([before, Buffer.from([byte]), after]);
  return how === 2 ? Buffer.concat([before, after.subarray(1)]) : before;
}
