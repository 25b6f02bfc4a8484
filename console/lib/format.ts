/** Times, sizes and ids as the console shows them. */

export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s * 10) / 10} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min ${Math.floor(s % 60)} s`;
  const h = Math.floor(min / 60);
  if (h < 48) return `${h} h ${min % 60} min`;
  return `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** A duration in one unit: `2 min`, for lists. */
export function ago(ms: number): string {
  if (ms < 5_000) return "now";
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

const two = (n: number): string => String(n).padStart(2, "0");

export function clock(at: number, withMs = false): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return withMs ? `${time}.${String(date.getMilliseconds()).padStart(3, "0")}` : time;
}

const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

/** Today the time of day, else the day. */
export function when(at: number, now = Date.now()): string {
  if (startOfDay(at) === startOfDay(now)) return clock(at);
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function dayName(at: number, now = Date.now()): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "This week";
  return "Earlier";
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)} kB`;
  if (n < 1_000_000_000) return `${(n / 1_000_000).toFixed(n < 10_000_000 ? 1 : 0)} MB`;
  return `${(n / 1_000_000_000).toFixed(1)} GB`;
}

export const count = (n: number): string => n.toLocaleString("en-US");

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

/** `inputTokens` as `input tokens`. */
export const spaced = (name: string): string => name.replace(/[A-Z]/g, one => ` ${one.toLowerCase()}`);

/** Ids begin with the time and look alike: their ends differ. */
export const shortId = (id: string): string => (id.length <= 12 ? id : id.slice(-8));

/**
 * Characters that change the direction of text or have no width are shown as their code points: text of agents is
 * untrusted. Joiners stay where scripts and emoji need them.
 */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cf}]/gu;
export const visible = (text: string): string =>
  text.replace(HIDDEN, (one, at: number) =>
    /[\u200c\u200d]/.test(one) && at > 0 && text.charCodeAt(at - 1) > 127
      ? one
      : `⟨${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );

/** One line for lists: at most `max` characters. */
export function oneLine(text: string, max = 160): string {
  const line = visible(text.slice(0, max * 4))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** Text for one line of a list, without the marks of Markdown that would only be noise there. */
export const plainLine = (text: string, max = 160): string =>
  oneLine(
    text
      .slice(0, max * 4)
      .replace(/!?\[([^\]\n]{0,200})\]\([^)\s]{0,500}\)/g, "$1")
      .replace(/\*\*|`+|^#{1,6} /gm, ""),
    max,
  );

export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;
