/** Options of a server that shares its store with others. */
import { z } from "zod";
import { LIMITS } from "../model/index.ts";
import { asText, count, type Option } from "./option.ts";

export interface ClusterOptions {
  /** undefined: the database rings. */
  readonly bell: string | undefined;
  /** undefined: `data` leads to it. */
  readonly databaseDirectUrl: string | undefined;
  readonly databaseConnectionsMax: number;
}

export const CLUSTER_OPTIONS: { readonly [K in keyof ClusterOptions]: Option<ClusterOptions[K]> } = {
  bell: {
    about: "Where nodes of one store wake each other, if not in its database",
    expected: "an address like nats://host:4222",
    schema: z.string().regex(/^(?:nats|tls):\/\/\S+$/),
    fallback: undefined,
    fromText: asText,
  },
  databaseDirectUrl: {
    about: "The database itself, where data leads to a pooler such as PgBouncer",
    expected: "an address like postgres://USER@HOST/DATABASE",
    schema: z.string().regex(/^postgres(?:ql)?:\/\/\S+$/),
    fallback: undefined,
    fromText: asText,
  },
  databaseConnectionsMax: count({
    about: "Connections to the database",
    fallback: LIMITS.databaseConnectionsMax,
  }),
};
