/** v1 §5.6: UTC with milliseconds and Z. */
export const encodeTime = createTimeEncoder();

/** Consecutive calls mostly have the same time, and formatting is slow: the last text is cached. */
function createTimeEncoder(): (ms: number) => string {
  let lastMs = 0;
  let last = new Date(lastMs).toISOString();
  return ms => {
    if (ms !== lastMs) {
      last = new Date(ms).toISOString();
      lastMs = ms;
    }
    return last;
  };
}
