/** Whether Markdown can be read in time: its readers take quadratic time for some texts, and agents are not trusted. */

/** Longer texts are shown as they are: they would cost more than a frame at each piece. */
export const MARKDOWN_LENGTH_MAX = 200_000;
const NESTING_MAX = 40;
/** Marks of emphasis and tags in one paragraph: each may be compared with each. */
const MARKS_MAX = 2_000;

/** Thousands of nested quotes, lists, brackets, tags or marks of emphasis: such text is shown as it is. */
export const isMarkdownCheap = (text: string): boolean =>
  text.length <= MARKDOWN_LENGTH_MAX &&
  !new RegExp(`^(?:[ \\t]*[>*+-]){${NESTING_MAX}}`, "m").test(text) &&
  !/[[*_`<(]{200}/.test(text) &&
  markCost(text) <= MARKS_MAX ** 2;

function markCost(text: string): number {
  let cost = 0;
  for (const paragraph of text.split(/\n[ \t]*\n/)) cost += (paragraph.match(/[*_<]+/g)?.length ?? 0) ** 2;
  return cost;
}
