import { LegacyA2AService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { describe, expect, test } from "vitest";
import { PROTOBUF as V1 } from "../../src/dialect/v1/protobuf.ts";
import { PROTOBUF as V03 } from "../../src/dialect/v03/protobuf.ts";
import { createCodecs } from "../../src/protobuf/codec.ts";
import type { Schema } from "../../src/protobuf/schema.ts";

/** The official SDK reads what we write and writes it again: whatever has another number, or another type, gets lost. */

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: "text",
  bytes: "AAEC",
  bool: true,
  int32: 7,
  Struct: { a: [1, "b", { c: true }] },
  Value: ["d"],
  Timestamp: "2026-01-31T12:00:00.123Z",
};
/** What other SDKs have and this one has not. */
const NOT_THERE: ReadonlySet<string> = new Set([
  "a2a.v1.Part.metadata",
  "a2a.v1.FilePart.name",
  "a2a.v1.AgentCard.iconUrl",
]);

/** A message with all its fields; of those that exclude each other, the one whose turn it is. */
function sample(schema: Schema, name: string, turn: number): object {
  const fields = Object.entries(schema.messages[name] ?? {}).filter(
    ([field]) => !NOT_THERE.has(`${schema.package}.${name}.${field}`),
  );
  const choices = fields.filter(([, spec]) => spec.includes("|"));
  const chosen = choices[turn % Math.max(1, choices.length)];
  return Object.fromEntries(
    fields
      .filter(field => !choices.includes(field) || field === chosen)
      .map(([field, spec]) => [field, value(schema, spec, turn)]),
  );
}

function value(schema: Schema, spec: string, turn: number): unknown {
  const [type = ""] = spec.split(" ");
  const bare = type.replace(/^map<(\w+)>$/, "$1").replace(/\W+$/, "");
  const one = SAMPLES[bare] ?? schema.enums[bare]?.[1 + (turn % 2)] ?? sample(schema, bare, turn);
  if (type.startsWith("map<")) return { key: one };
  return type.endsWith("[]") ? [one, one] : one;
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
const OFFICIAL: readonly (readonly [Schema, Readonly<Record<string, Definition>>])[] = [
  [V1, A2AService as unknown as Record<string, Definition>],
  [V03, LegacyA2AService as unknown as Record<string, Definition>],
];

describe.each(OFFICIAL)("$package", (schema, official) => {
  const codecs = createCodecs(schema);
  const rpcs = Object.entries(schema.rpcs);

  test("has the methods of the official SDK, and no others", () => {
    const paths = Object.values(official).map(({ path, responseStream }) => [path, responseStream]);
    const ours = rpcs.map(([name, spec]) => [
      `/${schema.package}.${schema.service}/${name}`,
      spec.includes("stream"),
    ]);
    expect(ours.sort()).toEqual(paths.sort());
  });

  test.each(rpcs)("every field of %s arrives, and comes back", (name, spec) => {
    const definition = Object.values(official).find(one => one.path.endsWith(`/${name}`)) as Definition;
    const [takes = "", gives = ""] = spec.replace("stream ", "").split(": ");
    for (let turn = 0; turn < 6; turn++) {
      const request = sample(schema, takes, turn);
      const sent = codecs(takes).encode(JSON.stringify(request));
      const heard = definition.requestSerialize(definition.requestDeserialize(sent));
      expect(codecs(takes).decode(heard)).toEqual(request);
      const reply = sample(schema, gives, turn);
      const said = codecs(gives).encode(JSON.stringify(reply));
      const read = definition.responseSerialize(definition.responseDeserialize(said));
      expect(codecs(gives).decode(read)).toEqual(reply);
    }
  });
});
