/** Cron expressions: five fields (minute, hour, day of month, month, day of week), or a name such as `@daily`. */

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number>;
  /** Both fields of days are restricted: a day that matches one of them matches, as in every cron. */
  readonly eitherDay: boolean;
  /** The hour field begins with `*`: the schedule follows elapsed time, so that an hour that is repeated counts twice. */
  readonly isEveryHour: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values, from `min` on. */
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  // 7 is Sunday, too.
  { name: "day of week", min: 0, max: 7, names: DAYS },
];
const NAMED: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const EXPRESSION_CHARS_MAX = 256;

/** Throws an Error that says what is wrong. */
export function parseCron(expression: string): Cron {
  if (expression.length > EXPRESSION_CHARS_MAX)
    throw new Error(`a cron expression has at most ${EXPRESSION_CHARS_MAX} characters`);
  const words = (NAMED[expression.trim().toLowerCase()] ?? expression).trim().split(/\s+/);
  if (words.length !== FIELDS.length)
    throw new Error(
      `a cron expression has five fields (minute, hour, day of month, month, day of week), got ${JSON.stringify(expression)}`,
    );
  const [minutes, hours, daysOfMonth, months, weekdays] = words.map((word, i) =>
    parseField(word, FIELDS[i] as Field),
  ) as [number[], number[], number[], number[], number[]];
  const isAny = (i: number): boolean => (words[i] as string).startsWith("*");
  const cron = {
    minutes,
    hours,
    daysOfMonth: new Set(daysOfMonth),
    months: new Set(months),
    daysOfWeek: new Set(weekdays.map(day => day % 7)),
    eitherDay: !isAny(2) && !isAny(4),
    isEveryHour: isAny(1),
  };
  if (!hasDay(cron)) throw new Error(`${JSON.stringify(expression)} names a day that no year has`);
  return cron;
}

/** In ascending order. */
function parseField(text: string, field: Field): number[] {
  const values = new Set<number>();
  for (const item of text.split(","))
    for (const value of parseItem(item.toLowerCase(), field)) values.add(value);
  return [...values].sort((a, b) => a - b);
}

/** `5`, `1-5`, `*`, each with `/STEP`. */
function parseItem(item: string, field: Field): readonly number[] {
  const [range = "", step, ...more] = item.split("/");
  const every = step === undefined ? 1 : toNumber(step);
  const bounds = toBounds(range, field, step !== undefined);
  if (more.length > 0 || !bounds || every === undefined || every < 1 || bounds[0] > bounds[1])
    throw new Error(
      `${JSON.stringify(item)} is no ${field.name}: expected ${field.min} to ${field.max}, a range such as ${field.min}-${field.max}, or *, each with /STEP`,
    );
  const values: number[] = [];
  for (let value = bounds[0]; value <= bounds[1]; value += every) values.push(value);
  return values;
}

function toBounds(range: string, field: Field, hasStep: boolean): readonly [number, number] | undefined {
  if (range === "*") return [field.min, field.max === 7 ? 6 : field.max];
  const ends = range.split("-").map(end => toValue(end, field));
  const [from, to, ...more] = ends;
  if (from === undefined || more.length > 0 || (ends.length === 2 && to === undefined)) return undefined;
  // `5/10` is `5-59/10`.
  return [from, to ?? (hasStep ? field.max : from)];
}

function toValue(text: string, { min, max, names = [] }: Field): number | undefined {
  const named = names.indexOf(text);
  const value = named === -1 ? toNumber(text) : named + min;
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

const toNumber = (text: string): number | undefined => (/^\d{1,4}$/.test(text) ? Number(text) : undefined);

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `30 2` as day and month never comes. */
const hasDay = ({ daysOfMonth, months, eitherDay }: Cron): boolean =>
  eitherDay || [...months].some(month => Math.min(...daysOfMonth) <= (DAYS_OF_MONTH[month - 1] as number));

// ---- times ---------------------------------------------------------------------------------------------------

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** 29 February may be eight years away, around a year such as 2100. */
const DAYS_AHEAD_MAX = 8 * 366 + 2;

/**
 * The first time after `after`, in milliseconds. A local time that does not exist, because clocks were put forward, counts
 * as the time at which clocks would have shown it; one that occurs twice counts once, unless every hour is meant.
 */
export function nextTime(cron: Cron, timezone: string, after: number): number {
  const offsetAt = offsetsOf(timezone);
  const today = Math.floor((after + offsetAt(after)) / DAY_MS) * DAY_MS;
  // A day earlier: a time of yesterday that did not exist may count as one of today.
  for (let i = -1; i <= DAYS_AHEAD_MAX; i++) {
    const day = today + i * DAY_MS;
    if (!matchesDay(cron, new Date(day))) continue;
    const found = nextOfDay(cron, day, after, offsetAt);
    if (found !== undefined) return found;
  }
  throw new Error("no such day within eight years");
}

function matchesDay({ months, daysOfMonth, daysOfWeek, eitherDay }: Cron, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false;
  const ofMonth = daysOfMonth.has(day.getUTCDate());
  const ofWeek = daysOfWeek.has(day.getUTCDay());
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** `day`: midnight of a local day, as if it were UTC. */
function nextOfDay(
  cron: Cron,
  day: number,
  after: number,
  offsetAt: (at: number) => number,
): number | undefined {
  const [before, later] = [offsetAt(day - DAY_MS), offsetAt(day + 2 * DAY_MS)];
  let first: number | undefined;
  for (const hour of cron.hours)
    for (const minute of cron.minutes) {
      const local = day + (hour * 60 + minute) * MINUTE_MS;
      const times = before === later ? [local - before] : toTimes(local, before, later, cron, offsetAt);
      for (const at of times) if (at > after && (first === undefined || at < first)) first = at;
      if (first !== undefined && before === later) return first;
    }
  return first;
}

/** The times at which clocks show `local`, near a change of the offset. */
function toTimes(
  local: number,
  before: number,
  later: number,
  { isEveryHour }: Cron,
  offsetAt: (at: number) => number,
): readonly number[] {
  const times = [local - before, local - later].filter(at => at + offsetAt(at) === local);
  if (times.length === 0) return isEveryHour ? [] : [local - before];
  const ascending = [...new Set(times)].sort((a, b) => a - b);
  return isEveryHour ? ascending : ascending.slice(0, 1);
}

/** Whether it is the name of a time zone, such as Europe/Berlin. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The offset of local time from UTC, in milliseconds. */
function offsetsOf(timezone: string): (at: number) => number {
  if (timezone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return at => {
    const fields: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) fields[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  };
}
