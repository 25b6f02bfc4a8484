const YES =
  /^(yes|y|yep|yeah|ok|okay|sure|true|again|retry|continue|resume|proceed|run it|do it|go ahead|go on)\b/i;
const NO = /^(no|n|nope|false|stop|cancel|abort|never|don['’]?t|do not)\b/i;

/** Whether words that answer a question begin with a clear yes or a clear no. */
export function verdictIn(words: string): "yes" | "no" | "unclear" {
  if (NO.test(words.trim())) return "no";
  return YES.test(words.trim()) ? "yes" : "unclear";
}
