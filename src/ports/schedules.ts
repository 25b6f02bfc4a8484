import type { JsonObject } from "../lib/json.ts";
import type { AgentName, Scope } from "../model/index.ts";

/** Work that is to begin at certain times, by caller. */
export interface ScheduleStore {
  /** Creates or replaces it. Fault("limit-exceeded") if the caller has too many. */
  put(scope: Scope, schedule: Schedule): Promise<void>;
  get(scope: Scope, id: string): Promise<Schedule | undefined>;
  /** All of this caller, the newest first. */
  list(scope: Scope): Promise<readonly Schedule[]>;
  /** false: there is none. */
  delete(scope: Scope, id: string): Promise<boolean>;
  /**
   * Schedules whose time has come, the earliest first. No other claim of this or another node returns them until the lease
   * is over or they are settled.
   */
  claim(max: number, leaseMs: number): Promise<readonly DueSchedule[]>;
  /** Sets the next time, unless the schedule was changed since it was claimed; undefined: there is none. */
  settle(due: DueSchedule, nextAt: number | undefined): Promise<void>;
  /** Milliseconds until the next claim may return something; undefined: nothing is scheduled. */
  nextInMs(): Promise<number | undefined>;
}
export interface Schedule {
  readonly id: string;
  readonly agent: AgentName;
  /** The context in which the work takes place; undefined: each time in a new one. */
  readonly contextId: string | undefined;
  /** See `parseCron`. */
  readonly cron: string;
  /** The name of a time zone (IANA). */
  readonly timezone: string;
  /** No time after this one counts. */
  readonly endAt: number | undefined;
  readonly isEnabled: boolean;
  /** undefined: no time will come, or the schedule is disabled. */
  readonly nextAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  /** What is to be done, in the words of the protocol that made the schedule. */
  readonly payload: JsonObject;
}
export interface DueSchedule {
  readonly scope: Scope;
  readonly schedule: Schedule & { readonly nextAt: number };
}
