import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Seq, type Step, type TaskEvent, toTextAppend } from "../../model/index.ts";
import { packEvents, unpackEvents } from "../kernel/packed-events.ts";
import { MIGRATIONS } from "./sql/index.ts";
import { createSegmentWriter, mergeStaged, readStaged, type SegmentRow } from "./staged-segments.ts";

const TASKS = [1, 2, 3];

/** Writes to a database and keeps what each log must have. */
class Logs {
  readonly db = new DatabaseSync(":memory:");
  writer!: ReturnType<typeof createSegmentWriter>;
  /** The texts of the events of each task, of all commits. */
  committed = new Map<number, readonly string[]>(TASKS.map(task => [task, []]));
  #changed = this.committed;

  constructor() {
    this.db.exec(MIGRATIONS.join(";"));
    const insert = this.db.prepare(
      "INSERT INTO task (key, id, owner, context, context_id, state, rev, status_at, hidden, snapshot_seq) " +
        "VALUES (?, ?, 1, 1, 'c', 1, 1, 1, 0, 0)",
    );
    for (const task of TASKS) insert.run(task, `task-${task}`);
    this.open();
  }

  open(): void {
    mergeStaged(this.db);
    this.writer = createSegmentWriter(this.db);
  }

  write(task: number, texts: readonly string[], rev: number | null = null): void {
    const before = this.#changed.get(task) as readonly string[];
    const all = [...before, ...texts];
    this.#changed.set(task, all);
    this.writer.write(task, all.length, rev, toRow(before.length, texts), before.length === 0);
  }

  /** One transaction. */
  commit(work: () => void, isFailing = false): void {
    this.#changed = new Map(this.committed);
    this.db.exec("BEGIN");
    work();
    this.writer.trim();
    if (isFailing) {
      this.db.exec("ROLLBACK");
      this.writer.rollBack();
    } else {
      this.db.exec("COMMIT");
      this.committed = this.#changed;
    }
  }

  segmentsOf = (task: number): readonly SegmentRow[] =>
    this.db.prepare("SELECT last, events FROM segment WHERE task = ? ORDER BY last").all(task) as never;

  /** The logs as the server reads them. */
  read = (): unknown => this.#toTexts(task => [this.writer.findAfter(task, 0) ?? []].flat());

  /** The logs as another process reads them. */
  readElsewhere(): unknown {
    const staged = readStaged(this.db);
    return this.#toTexts(task => staged.get(task) ?? []);
  }

  #toTexts(stagedOf: (task: number) => readonly SegmentRow[]): unknown {
    const toTexts = (task: number) =>
      [...this.segmentsOf(task), ...stagedOf(task)]
        .flatMap(row => unpackEvents(row.events, row.last))
        .map(({ seq, event }, i) => (seq === i + 1 ? textOf(event) : `event ${seq} at ${i + 1}`));
    return new Map(TASKS.map(task => [task, toTexts(task)]));
  }

  count = (table: string): number => this.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n as number;
}

const textOf = (event: TaskEvent): string => JSON.stringify(event).match(/"text":"([^"]*)"/)?.[1] as string;

const toRow = (before: number, texts: readonly string[]): string =>
  packEvents(
    texts.map((text, i) => {
      const step = { seq: (before + i + 1) as Seq, at: 1_000 + before, event: toTextAppend("a", text) };
      return step as unknown as Step;
    }),
  );

const task = fc.constantFrom(...TASKS);
const texts = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.constantFrom("x", "two words"), { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(["y".repeat(3_000)]) },
  { weight: 2, arbitrary: fc.constantFrom(["z".repeat(1_500)]) },
);
const writes = fc.array(fc.tuple(task, texts, fc.constantFrom(null, null, null, 7)), {
  minLength: 1,
  maxLength: 6,
});
const change = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("commit"), writes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fail"), writes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("merge", "reopen"), writes: fc.constant([]) }) },
);

describe("staged segments", () => {
  it("a log has the events of all commits and of no other, whatever happens between them", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 40 }), changes => {
        const logs = new Logs();
        for (const one of changes) {
          if (one.kind === "reopen") logs.open();
          else if (one.kind === "merge") logs.commit(() => logs.writer.mergeAll());
          else
            logs.commit(() => {
              for (const [key, some, rev] of one.writes) logs.write(key, some, rev);
            }, one.kind === "fail");
          expect(logs.read()).toEqual(logs.committed);
          expect(logs.readElsewhere()).toEqual(logs.committed);
        }
        logs.db.close();
      }),
      { numRuns: 60 },
    );
  });

  it("short rows become one segment with the next row that has a revision", () => {
    const logs = new Logs();
    for (let i = 0; i < 5; i++) logs.commit(() => logs.write(1, ["x"]));
    expect([logs.segmentsOf(1).length, logs.count("staged")]).toEqual([1, 4]);
    logs.commit(() => logs.write(1, ["end"], 9));
    expect([logs.segmentsOf(1).length, logs.count("staged")]).toEqual([2, 0]);
    expect(logs.db.prepare("SELECT rev FROM segment ORDER BY last DESC").get()).toEqual({ rev: 9 });
  });

  it("a task that has written nothing for long does not keep the rows of the others", () => {
    const logs = new Logs();
    for (const idle of [1, 2]) for (let i = 0; i < 2; i++) logs.commit(() => logs.write(idle, ["idle"]));
    for (let i = 0; i < 6_000; i++) logs.commit(() => logs.write(3, ["x".repeat(1_000)]));
    expect(logs.writer.findAfter(1, 0)).toBeUndefined();
    expect(logs.count("staged")).toBeLessThan(5_000);
    expect(logs.segmentsOf(3).length).toBeLessThan(6_000 / 25);
    expect(logs.read()).toEqual(logs.committed);
  });

  it("events that were removed from a log do not come back from staged rows", () => {
    const logs = new Logs();
    for (let i = 0; i < 3; i++) logs.commit(() => logs.write(1, ["x"]));
    logs.db.exec("UPDATE task SET since = 2 WHERE key = 1; DELETE FROM segment");
    expect(
      readStaged(logs.db)
        .get(1)
        ?.map(row => row.last),
    ).toEqual([3]);
  });

  it("after a rollback nothing is lost or invented, also if the table cannot be read for a while", () => {
    const logs = new Logs();
    for (let i = 0; i < 3; i++) logs.commit(() => logs.write(1, ["kept"]));
    logs.commit(() => {
      logs.write(1, ["refused"]);
      logs.write(1, ["refused"], 7);
    }, true);
    logs.db.exec("ALTER TABLE staged RENAME TO unreadable");
    expect(() => logs.writer.findAfter(1, 0)).toThrow();
    expect(() => logs.writer.write(1, 4, null, "[]", false)).toThrow();
    logs.db.exec("ALTER TABLE unreadable RENAME TO staged");
    expect(logs.read()).toEqual(logs.committed);
    logs.commit(() => logs.write(1, ["end"], 8));
    expect(logs.read()).toEqual(logs.committed);
    expect(logs.count("staged")).toBe(0);
  });
});
