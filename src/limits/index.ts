export { createLimited, type LimitParts } from "./limited.ts";
export { bodyBytesMaxOf, runQuotaOf } from "./quotas.ts";
