import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../lib/json.ts";
import { Fault, type Message } from "../../model/index.ts";
import type { Dialect, Route, WireCall } from "../../ports/index.ts";
import { createV1 } from "../a2a-v1/index.ts";
import { decodeProtoSend } from "../a2a-v03/decode.ts";
import { toProtoResponse } from "../a2a-v03/encode.ts";
import { createV03 } from "../a2a-v03/index.ts";
import { decodeV03Send } from "./v03-decode.ts";
import { encodeV03Message } from "./v03-encode.ts";

const DIALECTS: readonly Dialect[] = [
  createV1({ versionPolicy: "lenient", cardPolicy: "hybrid", errorTable: "1.0.1", v11: "off" }),
  createV03({ versionPolicy: "lenient" }),
];

const toCall = (route: Route, more: Partial<WireCall>): WireCall => ({
  transport: "rest",
  endpoint: route.path,
  vars: {},
  certificate: () => undefined,
  headers: {},
  query: new URLSearchParams(),
  base: () => "http://localhost",
  method: route.method,
  params: undefined,
  metadata: undefined,
  bytes: 0,
  signal: () => AbortSignal.abort(),
  ...more,
});

const MEMBER_NAMES = [
  ...["message", "request", "messageId", "role", "content", "parts", "text", "file", "fileWithBytes"],
  ...["data", "status", "configuration", "blocking", "historyLength", "pageSize", "includeArtifacts"],
  ...["tenant", "id", "metadata", "toString", "__proto__"],
  ...["url", "token", "authentication", "scheme", "schemes", "credentials", "config", "configId", "name"],
  ...["pushNotificationConfig", "pushNotification", "events", "secret", "pageToken"],
];
const anyValue = fc.oneof(
  fc.constantFrom("ROLE_USER", "user", "0", "true", "", "TASK_STATE_CANCELLED", "\ud800", 1, 0, null),
  fc.jsonValue({ maxDepth: 2 }),
);
const anyObject: fc.Arbitrary<unknown> = fc.letrec(tie => ({
  object: fc.dictionary(
    fc.constantFrom(...MEMBER_NAMES),
    fc.oneof({ maxDepth: 4 }, anyValue, tie("object"), fc.array(tie("object"), { maxLength: 2 })),
    { maxKeys: 6 },
  ),
})).object;
const anyText = fc.oneof(fc.constantFrom("nope", "a:b", "\u0000", "x".repeat(300)), fc.string());
const anyCall = fc.record({
  params: fc.option(fc.oneof(anyObject, anyValue), { nil: undefined }),
  vars: fc.record({ agent: anyText, tenant: anyText, id: anyText, taskId: anyText }, { requiredKeys: [] }),
  query: fc
    .array(fc.tuple(fc.constantFrom(...MEMBER_NAMES), anyText))
    .map(pairs => new URLSearchParams(pairs as [string, string][])),
}) as unknown as fc.Arbitrary<Partial<WireCall>>;

describe("HTTP+JSON", () => {
  it.each(DIALECTS)("$name decodes any path, query and body, or throws a Fault", dialect => {
    const routes = dialect.routes.filter(route => route.transport === "rest");
    const anyRoute = fc.constantFrom(...routes);
    fc.assert(
      fc.property(anyRoute, anyCall, (route, parts) => {
        const call = toCall(route, parts);
        try {
          expect(dialect.decode(call).op).toBeTypeOf("string");
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(["", "1.0", "0.3", "0.1", "9.9"])("every path is claimed, whatever the version (%j)", version => {
    const calls = DIALECTS.flatMap(dialect => dialect.routes)
      .filter(route => route.transport === "rest")
      .map(route => toCall(route, { headers: { "a2a-version": version } }));
    const unclaimed = calls.filter(call => !DIALECTS.some(dialect => dialect.claims(call)));
    expect(unclaimed.map(call => call.endpoint)).toEqual([]);
  });

  it("a message is the same in both forms of v0.3, except for referenceTaskIds", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 });
    const object = fc.dictionary(text, fc.constantFrom<Json>(1, "x", [null], { deep: true }), { maxKeys: 3 });
    const file = { filename: fc.constant("a.txt"), mediaType: fc.constant("text/plain"), metadata: object };
    const anyPart = fc.oneof(
      fc.record({ kind: fc.constant("text"), text, metadata: object }, { requiredKeys: ["kind", "text"] }),
      fc.record(
        { kind: fc.constant("bytes"), bytes: fc.constantFrom("", "AAEC"), ...file },
        { requiredKeys: ["kind", "bytes"] },
      ),
      fc.record({ kind: fc.constant("url"), url: fc.webUrl(), ...file }, { requiredKeys: ["kind", "url"] }),
      fc.record({ kind: fc.constant("data"), data: fc.oneof(object, fc.constantFrom<Json>([1], 7, null)) }),
    );
    const anyMessage = fc.record({
      messageId: fc.constant("m"),
      role: fc.constant("user"),
      parts: fc.array(anyPart, { minLength: 1, maxLength: 4 }),
      referenceTaskIds: fc.constant(["t"]),
    }) as unknown as fc.Arbitrary<Message>;
    const call = toCall({ transport: "rest", verb: "POST", path: "/", method: "" }, {});
    fc.assert(
      fc.property(anyMessage, message => {
        const encoded: JsonObject = encodeV03Message(message);
        const { referenceTaskIds: _, ...expected } = decodeV03Send(call, { message: encoded }, "v03").send
          .message;
        expect(decodeProtoSend(call, toProtoResponse(encoded)).send.message).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
