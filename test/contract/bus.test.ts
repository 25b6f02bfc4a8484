import { Client } from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createNatsBus } from "../../src/bus/nats.ts";
import { createPostgresBus } from "../../src/bus/postgres.ts";
import { busContract } from "../../src/testing/contracts/bus.ts";
import { runContract } from "../support/contract.ts";
import { hasNats, NO_NATS, startNats, type TestNats } from "../support/nats.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";

const PARTS = { batchMs: 2, pollMs: 60_000, cluster: "one", log: createTestLog() };

describe("Postgres", () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  runContract(
    "the bus over Postgres",
    busContract(() => ({
      open: (node, onRemote) => createPostgresBus({ ...PARTS, node, onRemote, url: postgres.url }),
      lonely: node =>
        createPostgresBus({ ...PARTS, node, onRemote() {}, url: "postgres://postgres@127.0.0.1:1/none" }),
      async cut() {
        const client = new Client({ connectionString: postgres.url });
        await client.connect();
        await client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dragoman bell'",
        );
        await client.end();
      },
    })),
  );
});

if (!hasNats) it.skip(`NATS: ${NO_NATS}`, () => {});
else
  describe("NATS", () => {
    let nats: TestNats;
    beforeAll(async () => {
      nats = await startNats();
    });
    afterAll(() => nats.stop());

    runContract(
      "the bus over NATS",
      busContract(() => ({
        open: (node, onRemote) => createNatsBus({ ...PARTS, node, onRemote, url: nats.url }),
        lonely: node => createNatsBus({ ...PARTS, node, onRemote() {}, url: "nats://127.0.0.1:1" }),
        cut: () => nats.restart(),
      })),
    );
  });
