import { expect } from "vitest";
import type { Probe, Reply } from "./probe.ts";
import type { Check } from "./statement.ts";

export type Request = (probe: Probe) => Promise<Reply>;

/** The response has this HTTP status. */
export const hasStatus =
  (made: Request, status: number): Check =>
  async probe =>
    expect((await made(probe)).status).toBe(status);

/** The body of the response has these members. */
export const has =
  (made: Request, members: object): Check =>
  async probe =>
    expect((await made(probe)).json).toMatchObject(members);

/** The result of the call has these members. */
export const gives = (made: Request, result: unknown): Check => has(made, { result });

/** The call is refused with this number, in an envelope with HTTP 200. */
export const refuses =
  (made: Request, code: number, error: object = {}): Check =>
  async probe => {
    const { status, json } = await made(probe);
    expect(json).toMatchObject({ jsonrpc: "2.0", error: { code, message: expect.any(String), ...error } });
    expect(status).toBe(200);
  };

/** The result of the call has no such member. */
export const lacks =
  (made: Request, ...path: readonly string[]): Check =>
  async probe => {
    const { json } = await made(probe);
    expect(json).toHaveProperty(["result", ...path.slice(0, -1)]);
    expect(json).not.toHaveProperty(["result", ...path]);
  };

/** The data of the frames of a stream. */
export const frames =
  (made: Request, check: (data: readonly Reply["json"][]) => unknown): Check =>
  async probe => {
    const { status, type, events } = await made(probe);
    expect([status, type]).toEqual([200, "text/event-stream"]);
    check(events.map(({ data }) => data));
  };
