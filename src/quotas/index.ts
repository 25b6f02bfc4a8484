export { createLimitedOperations, type LimitParts } from "./limited-operations.ts";
export { bodyBytesMaxOf, runQuotaOf } from "./quotas.ts";
export { createUnreadBytes } from "./unread-bytes.ts";
