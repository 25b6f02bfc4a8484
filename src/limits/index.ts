export { createLimited, type LimitParts } from "./limited.ts";
export { bodyBytesMaxOf, runQuotaOf } from "./quotas.ts";
export { createUnread } from "./unread.ts";
