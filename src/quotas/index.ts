export { createLimited, type LimitParts } from "./limited-operations.ts";
export { bodyBytesMaxOf, runQuotaOf } from "./quotas.ts";
export { createUnread } from "./unread-bytes.ts";
