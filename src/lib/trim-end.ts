/**
 * A text without this character at its end, however often it stands there. The regular expression for that (`/x+$/`) tries
 * again at each character of a long row that is not at the end, which costs the square of it.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return end === text.length ? text : text.slice(0, end);
}
