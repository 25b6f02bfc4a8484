import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../lib/json.ts";
import { toCanonicalJson } from "./canonical.ts";

test("the example of RFC 8785 §3.2.2", () => {
  const value = {
    // biome-ignore lint/correctness/noPrecisionLoss: the RFC's own number.
    numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '€$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
  };
  expect(toCanonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("members are in the order of their UTF-16 units (RFC 8785 §3.2.3)", () => {
  const value = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
  expect(toCanonicalJson(value)).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
  );
});

test("agrees with another implementation", () => {
  const unit = fc.constantFrom(
    "a",
    "Z",
    "1",
    '"',
    "\\",
    "\n",
    "\u0000",
    "\u2028",
    "\u00e9",
    "\ufb33",
    "\u{1f600}",
  );
  const text = fc.string({ unit });
  const leaf = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.oneof(
    leaf,
    fc.array(leaf),
    fc.dictionary(text, fc.oneof(leaf, fc.dictionary(text, leaf))),
  );
  fc.assert(
    fc.property(value, one => {
      const json = JSON.parse(JSON.stringify(one)) as Json;
      expect(toCanonicalJson(json)).toBe(canonicalize(json));
    }),
  );
});

test("rejects values that JSON does not have", () => {
  expect(() => toCanonicalJson({ a: Number.NaN })).toThrow("not JSON");
  expect(() => toCanonicalJson(["\ud800"])).toThrow("lone surrogate");
  expect(() => toCanonicalJson({ "\udc00": 1 })).toThrow("lone surrogate");
});
