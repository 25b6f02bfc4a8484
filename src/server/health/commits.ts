import type { CommitObserver } from "../../ports/index.ts";

/** Whether the newest commit of the store succeeded. */
export interface CommitState extends CommitObserver {
  /** true: the newest commit failed, and none succeeded since. */
  failing: boolean;
}

/** Passes everything on to `inner`, if there is one. */
export function watchCommits(inner: CommitObserver | undefined): CommitState {
  const succeeded = (): void => {
    state.failing = false;
  };
  const state: CommitState = {
    failing: false,
    begin() {
      const done = inner?.begin();
      if (!done) return succeeded;
      return (tasks, events) => {
        state.failing = false;
        done(tasks, events);
      };
    },
    failed() {
      state.failing = true;
      inner?.failed();
    },
  };
  return state;
}
