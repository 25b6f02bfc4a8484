import { describe, expect, test } from "vitest";
import { isTimezone, nextTime, parseCron } from "./cron.ts";

const at = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString().replace(":00.000Z", "Z");

/** The next times, one after the other. */
function times(expression: string, from: string, count: number, timezone = "UTC"): readonly string[] {
  const cron = parseCron(expression);
  const found: string[] = [];
  for (let last = at(from); found.length < count; found.push(iso(last)))
    last = nextTime(cron, timezone, last);
  return found;
}

describe("the next times of an expression", () => {
  test.each<[string, string, readonly string[]]>([
    ["* * * * *", "2026-01-01T00:00:30Z", ["2026-01-01T00:01Z", "2026-01-01T00:02Z"]],
    ["*/15 * * * *", "2026-01-01T23:40:00Z", ["2026-01-01T23:45Z", "2026-01-02T00:00Z"]],
    ["5/20 3 * * *", "2026-01-01T03:05:00Z", ["2026-01-01T03:25Z", "2026-01-01T03:45Z", "2026-01-02T03:05Z"]],
    ["0 9-17/4 * * mon-fri", "2026-01-02T13:00:00Z", ["2026-01-02T17:00Z", "2026-01-05T09:00Z"]],
    [
      "30 4 1,15 * 5",
      "2026-01-01T04:30:00Z",
      ["2026-01-02T04:30Z", "2026-01-09T04:30Z", "2026-01-15T04:30Z"],
    ],
    ["0 0 * * 7", "2026-01-01T00:00:00Z", ["2026-01-04T00:00Z"]],
    ["0 0 1 JAN,jul *", "2026-01-01T00:00:00Z", ["2026-07-01T00:00Z", "2027-01-01T00:00Z"]],
    ["0 12 29 2 *", "2026-01-01T00:00:00Z", ["2028-02-29T12:00Z", "2032-02-29T12:00Z"]],
    ["0 12 29 2 *", "2097-01-01T00:00:00Z", ["2104-02-29T12:00Z"]],
    ["0 0 31 * *", "2026-01-31T00:00:00Z", ["2026-03-31T00:00Z", "2026-05-31T00:00Z"]],
    // A day of month that begins with * is no restriction, as in Vixie cron: both must match.
    ["0 0 */2 * mon", "2026-01-01T00:00:00Z", ["2026-01-05T00:00Z", "2026-01-19T00:00Z"]],
    ["@weekly", "2026-01-01T00:00:00Z", ["2026-01-04T00:00Z", "2026-01-11T00:00Z"]],
    ["@Yearly", "2026-01-01T00:00:00Z", ["2027-01-01T00:00Z"]],
    ["@hourly", "2025-12-31T23:30:00Z", ["2026-01-01T00:00Z"]],
  ])("%s", (expression, from, expected) => {
    expect(times(expression, from, expected.length)).toEqual(expected);
  });
});

describe("in a time zone", () => {
  test("local times follow its offset", () => {
    expect(times("0 9 * * *", "2026-01-15T00:00:00Z", 1, "Europe/Berlin")).toEqual(["2026-01-15T08:00Z"]);
    expect(times("0 9 * * *", "2026-07-15T00:00:00Z", 1, "Europe/Berlin")).toEqual(["2026-07-15T07:00Z"]);
    expect(times("0 9 * * *", "2026-01-15T00:00:00Z", 1, "Asia/Kolkata")).toEqual(["2026-01-15T03:30Z"]);
    expect(times("0 0 1 * *", "2026-01-15T00:00:00Z", 1, "Pacific/Kiritimati")).toEqual([
      "2026-01-31T10:00Z",
    ]);
    expect(times("0 0 1 * *", "2026-01-15T00:00:00Z", 1, "Pacific/Pago_Pago")).toEqual(["2026-02-01T11:00Z"]);
  });

  // Berlin puts clocks forward on 2026-03-29 at 02:00 (01:00Z), and back on 2026-10-25 at 03:00 (01:00Z).
  test("a time that clocks skip fires an hour later, once", () => {
    expect(times("30 2 * * *", "2026-03-28T00:00:00Z", 3, "Europe/Berlin")).toEqual([
      "2026-03-28T01:30Z",
      "2026-03-29T01:30Z",
      "2026-03-30T00:30Z",
    ]);
    expect(times("0 2,3 * * *", "2026-03-29T00:00:00Z", 2, "Europe/Berlin")).toEqual([
      "2026-03-29T01:00Z",
      "2026-03-30T00:00Z",
    ]);
  });

  test("a time that clocks show twice fires once", () => {
    expect(times("30 2 * * *", "2026-10-24T00:00:00Z", 3, "Europe/Berlin")).toEqual([
      "2026-10-24T00:30Z",
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
  });

  test("every hour means every hour that elapses", () => {
    expect(times("30 * * * *", "2026-03-28T23:45:00Z", 3, "Europe/Berlin")).toEqual([
      "2026-03-29T00:30Z",
      "2026-03-29T01:30Z",
      "2026-03-29T02:30Z",
    ]);
    expect(times("30 * * * *", "2026-10-24T23:45:00Z", 4, "Europe/Berlin")).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-25T01:30Z",
      "2026-10-25T02:30Z",
      "2026-10-25T03:30Z",
    ]);
  });

  // New York: forward on 2026-03-08 at 02:00 (07:00Z), back on 2026-11-01 at 02:00 (06:00Z). Lord Howe changes by 30 minutes.
  test("west of Greenwich, and with changes of half an hour", () => {
    expect(times("30 2 * * *", "2026-03-08T00:00:00Z", 2, "America/New_York")).toEqual([
      "2026-03-08T07:30Z",
      "2026-03-09T06:30Z",
    ]);
    expect(times("30 1 * * *", "2026-11-01T00:00:00Z", 2, "America/New_York")).toEqual([
      "2026-11-01T05:30Z",
      "2026-11-02T06:30Z",
    ]);
    // 2026-10-04 at 02:00 local (15:30Z the day before) clocks go to 02:30.
    expect(times("15 2 * * *", "2026-10-03T00:00:00Z", 2, "Australia/Lord_Howe")).toEqual([
      "2026-10-03T15:45Z",
      "2026-10-04T15:15Z",
    ]);
  });

  test("times ascend over a whole year, one for each local day", () => {
    const cron = parseCron("30 2 * * *");
    let last = at("2026-01-01T00:00:00Z");
    for (let day = 0; day < 365; day++) {
      const next = nextTime(cron, "America/Sao_Paulo", last);
      expect(next - last).toBeGreaterThan(0);
      last = next;
    }
    expect(iso(last)).toBe("2026-12-31T05:30Z");
  });

  test("names of zones are checked", () => {
    expect(["UTC", "Europe/Berlin", "Mars/Base", ""].map(isTimezone)).toEqual([true, true, false, false]);
  });
});

describe("an invalid expression is refused", () => {
  test.each([
    ["", "five fields"],
    ["* * * *", "five fields"],
    ["* * * * * *", "five fields"],
    ["60 * * * *", '"60" is no minute'],
    ["* 24 * * *", '"24" is no hour'],
    ["* * 0 * *", '"0" is no day of month'],
    ["* * * 13 *", '"13" is no month'],
    ["* * * * 8", '"8" is no day of week'],
    ["5-1 * * * *", '"5-1" is no minute'],
    ["*/0 * * * *", '"*/0" is no minute'],
    ["1,,2 * * * *", '"" is no minute'],
    ["1-2-3 * * * *", "is no minute"],
    ["1/2/3 * * * *", "is no minute"],
    ["-1 * * * *", "is no minute"],
    ["* * L * *", '"l" is no day of month'],
    ["* * * * mon#2", "is no day of week"],
    ["0 0 30 2 *", "names a day that no year has"],
    ["0 0 31 4,6 *", "names a day that no year has"],
    [`${"1,".repeat(1_000)}1 * * * *`, "at most 256 characters"],
  ])("%s", (expression, reason) => {
    expect(() => parseCron(expression)).toThrow(reason);
  });
});
