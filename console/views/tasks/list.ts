import { type Signal, signal } from "@preact/signals";
import type { TaskRow, TaskRowPage } from "../../../src/admin/api.ts";
import { readAdmin } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { type Change, onChange } from "../../lib/feed.ts";
import { perFrame } from "../../lib/live-task.ts";
import type { Query } from "../../lib/router.ts";

const PAGE = "100";
const FRESH_MAX = 500;

/** The tasks that match the filters: read page by page as the reader scrolls, changed in place as the server reports. */
export class TaskList {
  readonly rows: Signal<readonly TaskRow[]> = signal([]);
  readonly isLoading = signal(true);
  readonly problem = signal("");
  readonly hasMore = signal(false);
  /** Newer tasks that wait for the reader: the list holds still. */
  readonly fresh: Signal<readonly TaskRow[]> = signal([]);
  readonly isRunning = signal(false);
  readonly #query: Query;
  readonly #matches: (row: TaskRow) => boolean;
  readonly #abort = new AbortController();
  readonly #stop: () => void;
  readonly #changed = new Map<string, TaskRow>();
  readonly #flushSoon = perFrame(() => this.#flush());
  #next = "";
  #isReading = false;

  constructor(query: Query, matches: (row: TaskRow) => boolean) {
    this.#query = query;
    this.#matches = matches;
    this.#stop = onChange(change => this.#onChange(change));
    void this.more();
  }

  close(): void {
    this.#abort.abort();
    this.#stop();
  }

  async more(): Promise<void> {
    if (this.#isReading || (this.rows.peek().length > 0 && this.#next === "")) return;
    this.#isReading = true;
    this.isLoading.value = true;
    try {
      // With words to find, a page can be empty although there are more.
      for (let pages = 0; pages < 20; pages++) {
        const page = await readAdmin<TaskRowPage>(
          "tasks",
          { ...this.#query, pageSize: PAGE, pageToken: this.#next },
          this.#abort.signal,
        );
        const known = new Set(this.rows.peek().map(row => row.id));
        this.rows.value = [...this.rows.peek(), ...page.tasks.filter(row => !known.has(row.id))];
        this.#next = page.nextPageToken;
        this.hasMore.value = this.#next !== "";
        if (page.tasks.length > 0 || this.#next === "") break;
      }
      this.problem.value = "";
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = reasonOf(error);
    }
    this.#isReading = false;
    this.isLoading.value = false;
  }

  /** Errors keep the rows that were there. */
  async reload(): Promise<void> {
    try {
      const page = await readAdmin<TaskRowPage>(
        "tasks",
        { ...this.#query, pageSize: PAGE },
        this.#abort.signal,
      );
      this.rows.value = page.tasks;
      this.fresh.value = [];
      this.#next = page.nextPageToken;
      this.hasMore.value = this.#next !== "";
      this.problem.value = "";
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = reasonOf(error);
    }
  }

  showFresh(): void {
    const known = new Set(this.rows.peek().map(row => row.id));
    this.rows.value = [...this.fresh.peek().filter(row => !known.has(row.id)), ...this.rows.peek()];
    this.fresh.value = [];
  }

  #onChange(change: Change): void {
    if (change.kind === "reload") void this.reload();
    else if (change.kind === "gone") this.rows.value = this.rows.peek().filter(row => row.id !== change.id);
    else {
      this.#changed.set(change.row.id, change.row);
      this.#flushSoon();
    }
  }

  #flush(): void {
    const changed = new Map(this.#changed);
    this.#changed.clear();
    let isTouched = false;
    const rows = this.rows.peek().map(row => {
      const next = changed.get(row.id);
      if (!next) return row;
      changed.delete(row.id);
      isTouched = true;
      return next;
    });
    if (isTouched) this.rows.value = rows;
    const newest = rows[0]?.createdAt ?? 0;
    const added = [...changed.values()].filter(row => row.createdAt >= newest && this.#matches(row));
    if (added.length === 0) return;
    const kept = this.fresh.peek().filter(row => !added.some(one => one.id === row.id));
    this.fresh.value = [...added, ...kept]
      .sort((one, other) => other.createdAt - one.createdAt)
      .slice(0, FRESH_MAX);
    if (this.isRunning.peek() || rows.length === 0) this.showFresh();
  }
}
