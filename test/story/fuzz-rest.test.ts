import fc from "fast-check";
import { expect, it } from "vitest";
import { Fault } from "../../src/model/index.ts";
import type { WireCall } from "../../src/ports/index.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { SETTINGS } from "../support/server.ts";

const ROUTES = createDialects(SETTINGS)
  .filter(({ routes }) => routes.every(({ transport }) => transport !== "jsonrpc"))
  .flatMap(dialect => dialect.routes.map(route => ({ dialect, route })));

it("decoding any body of a dialect without JSON-RPC returns an operation or a refusal", () => {
  expect(ROUTES).not.toEqual([]);
  fc.assert(
    fc.property(fc.constantFrom(...ROUTES), fc.jsonValue(), ({ dialect, route }, params) => {
      const call = {
        transport: route.transport,
        endpoint: route.path,
        method: route.method,
        vars: { agent: "echo", id: "resp_1", taskId: "t", name: "echo" },
        headers: {},
        query: new URLSearchParams(),
        base: () => "http://localhost",
        params,
      } as unknown as WireCall;
      let refusal: unknown;
      try {
        dialect.decode(call);
      } catch (error) {
        refusal = error;
      }
      if (refusal !== undefined) expect(refusal).toBeInstanceOf(Fault);
    }),
    { numRuns: 500 },
  );
});
