import { EventEmitter } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import { expect, it, vi } from "vitest";
import { createHttp2Sessions } from "./http2-sessions.ts";
import { STALLED_HEARTBEATS_MAX } from "./sse.ts";

const BEAT_MS = 10;

/** A connection; `answers`: what it does with a ping. */
function createSession(answers: (done: (lost: Error | null) => void) => void) {
  const events = new EventEmitter();
  return Object.assign(events, {
    destroyed: false,
    pings: 0,
    ping(done: (lost: Error | null) => void) {
      if (this.destroyed) throw new Error("this session is over");
      this.pings += 1;
      answers(done);
    },
    close() {
      events.emit("close");
    },
    destroy() {
      this.destroyed = true;
    },
  });
}

it("pings live sessions at every heartbeat, destroys silent ones, and does not ping ended ones", () => {
  vi.useFakeTimers();
  try {
    const sessions = createHttp2Sessions(BEAT_MS);
    const alive = createSession(done => done(null));
    const dead = createSession(() => {});
    const lost = createSession(done => done(new Error("canceled")));
    // Its connection is still being closed.
    const over = createSession(done => done(null));
    over.destroy();
    for (const one of [alive, dead, lost, over]) sessions.add(one as unknown as ServerHttp2Session);
    vi.advanceTimersByTime(BEAT_MS * STALLED_HEARTBEATS_MAX);
    expect([alive, dead, lost, over].map(one => one.destroyed)).toEqual([false, false, false, true]);
    vi.advanceTimersByTime(BEAT_MS);
    expect([alive, dead, lost].map(one => one.destroyed)).toEqual([false, true, true]);
    expect([alive, dead, lost, over].map(one => one.pings)).toEqual([STALLED_HEARTBEATS_MAX + 1, 1, 1, 0]);
    sessions.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
