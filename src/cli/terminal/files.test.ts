import fc from "fast-check";
import { expect, test } from "vitest";
import { describeFile, toSafeFileName } from "./files.ts";
import { formatSize } from "./text.ts";

test.each([
  ["report.csv", "report.csv"],
  ["../../etc/passwd", "passwd"],
  ["C:\\evil\\x.txt", "x.txt"],
  [".bashrc", "bashrc"],
  ["..", "file"],
  ["", "file"],
  [undefined, "file"],
  ["a\u0000b\nc.txt", "a_b_c.txt"],
  ["čaj 北京.md", "čaj 北京.md"],
])("a file that an agent names %j is saved as %j", (name, safe) => {
  expect(toSafeFileName(name)).toBe(safe);
});

const NASTY = fc.constantFrom(".", "..", "/", "\\", "a", " ", "-", "\0", "\n", "é", "\ud83d", "🐎", ":");

test("no name leaves the folder, hides or is too long", () => {
  fc.assert(
    fc.property(fc.string({ unit: NASTY, maxLength: 300, size: "max" }), name => {
      const safe = toSafeFileName(name);
      expect(safe).not.toMatch(/[/\\\p{Cc}]|^\./u);
      expect(safe.length).toBeGreaterThan(0);
      expect(safe.length).toBeLessThanOrEqual(128);
    }),
  );
});

test("sizes are printed in decimal units", () => {
  expect([0, 999, 1_000, 1_234_567].map(formatSize)).toEqual(["0 bytes", "999 bytes", "1.0 kB", "1.2 MB"]);
});

test("a file is described by name, type, and size or URL", () => {
  expect(describeFile({ kind: "bytes", bytes: "YWJj" })).toBe("file, 3 bytes");
  expect(describeFile({ kind: "url", url: "https://x/f", filename: "f", mediaType: "text/csv" })).toBe(
    "f, text/csv, https://x/f",
  );
});
