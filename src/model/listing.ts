import type { ContextId } from "./ids.ts";
import type { Task, TaskState } from "./task.ts";

export interface ListFilter {
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Inclusive, in milliseconds. */
  readonly statusSince?: number;
  readonly pageSize: number;
  readonly pageToken?: string;
}

export interface Page {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}
