/**
 * A text without this character at its end, however often it is there. The regular expression for it (`/x+$/`) backtracks
 * at each character of a long run that is not at the end: quadratic time.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return end === text.length ? text : text.slice(0, end);
}
