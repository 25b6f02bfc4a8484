/** v1 §5.6: UTC, milliseconds, Z. */
export const writeTime = createTimeWriter();

/** What happens at one time is asked for at one time, and a text takes long to make. */
function createTimeWriter(): (ms: number) => string {
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
