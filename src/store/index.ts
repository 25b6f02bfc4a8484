/** For stores of others: the store of one process, over a small synchronous interface. */
export type { NewName } from "./kernel/caller-names.ts";
export type { ItemRow, ItemWrite } from "./kernel/item-row.ts";
export type { ListCursor } from "./kernel/page-token.ts";
export type { ResourceRow } from "./kernel/resource-row.ts";
export type { RetentionBounds } from "./kernel/retention.ts";
export type { RunQuota } from "./kernel/run-quota.ts";
export type { ScheduleRow } from "./kernel/schedule-row.ts";
export type { StoreParts } from "./kernel/store-parts.ts";
export { createMemoryBackend } from "./memory/backend.ts";
export type * from "./single-node/backend.ts";
export { createSingleNodeStore, type SingleNodeStoreParts } from "./single-node/store.ts";
