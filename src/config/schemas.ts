/** The schemas of the structured options; the compiler checks that each one has one, and that the values fit. */
import { z } from "zod";
import { type Embed, isCredentialName } from "../model/index.ts";
import { ACCESS_SCHEMAS } from "./access-schemas.ts";
import type { OptionValues, StructuredOption } from "./options/index.ts";

const text = z.string().min(1);
const url = z.url({ protocol: /^https?$/ });
const strings = z.record(z.string(), z.string()).optional();

const MCP_PROGRAM = z.strictObject({
  command: text,
  args: z.array(z.string()).optional(),
  env: strings,
  cwd: text.optional(),
});
const MCP_ADDRESS = z.strictObject({ url, headers: strings });

const OAUTH_PROVIDER = z.strictObject({
  authorizationUrl: url,
  tokenUrl: url,
  clientId: text,
  clientSecret: text.optional(),
  clientAuthentication: z.enum(["post", "basic"]).optional(),
  scopes: z.array(text).optional(),
  parameters: z.record(text, z.string()).optional(),
});

const positive = z.number().positive().optional();
const QUOTA = z.strictObject({
  callsPerSecond: positive,
  callsBurst: z.number().min(1).optional(),
  runs: z.int().min(1).optional(),
  streams: z.int().min(0).optional(),
  tasks: z.int().min(0).optional(),
  bodyBytes: z.int().min(1).optional(),
  tokensPerDay: positive,
});
const QUOTA_PAIR = { caller: QUOTA.optional(), tenant: QUOTA.optional() };

const ITEMS = z.strictObject({
  embed: z
    .union([text, z.custom<Embed>(value => typeof value === "function")], "expected a function or its place")
    .optional(),
  dims: z.int().min(1).max(100_000).optional(),
  fields: z.array(text).min(1).max(100).optional(),
  ttlMs: z.int().min(1).optional(),
  refreshOnRead: z.boolean().optional(),
});

export const SCHEMAS: { readonly [K in StructuredOption]: z.ZodType<OptionValues[K]> } = {
  ...ACCESS_SCHEMAS,
  quotas: z.strictObject({
    ...QUOTA_PAIR,
    tenants: z.record(z.string(), z.strictObject(QUOTA_PAIR)).optional(),
  }),
  oauth: z.record(z.string().refine(isCredentialName), OAUTH_PROVIDER),
  items: ITEMS,
  mcpServers: z.record(text, z.union([MCP_PROGRAM, MCP_ADDRESS])),
};
