import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AgentName,
  DEFAULT_PERMISSIONS,
  Fault,
  type Identity,
  PERMISSIONS,
  type Permission,
} from "../../src/model/index.ts";
import type { Authenticator, Caller, Catalog, Operation, Principal } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { createCatalog } from "../../src/server/catalog.ts";
import { echo } from "../support/puppet.ts";

/** One or several ways to show who one is, and somebody who can. */
export interface GuardUnderTest {
  readonly guard: Authenticator;
  /** What a caller comes with whom these words describe. */
  show(badge: Identity): Promise<Partial<Caller>> | Partial<Caller>;
  /** What is not good, by the reason. */
  readonly bad: Readonly<Record<string, Partial<Caller>>>;
  close(): Promise<void>;
}

export const ALICE: Identity = {
  principal: "alice",
  tenants: ["acme"],
  grants: DEFAULT_PERMISSIONS,
  agents: undefined,
};
export const SOME: Identity = {
  principal: "bob",
  tenants: ["acme", "beta"],
  grants: ["read"],
  agents: ["echo"],
};
export const BADGES: readonly Identity[] = [ALICE, SOME];

const secret = { ...echo, name: "secret", tenants: ["beta"] };
const open = { ...echo, name: "open", access: "public" as const };
export const createCast = (): Catalog =>
  createCatalog([echo, secret, open].map(toAgent), "echo" as AgentName, () => 0);

export const callerOf = (shown: Partial<Caller>): Caller => ({
  headers: {},
  certificate: () => undefined,
  ...shown,
});

const ECHO = "echo" as AgentName;
const SEND = { message: { parts: [] }, origin: "v1", extensions: [] };
const operation = (op: Operation["op"], more: object = {}): Operation =>
  ({ op, agent: ECHO, ...(op === "send" || op === "stream" ? { send: SEND } : {}), ...more }) as Operation;

/** What each operation needs. */
const NEEDS: Readonly<Record<Operation["op"], Permission | undefined>> = {
  send: "send",
  stream: "send",
  get: "read",
  list: "read",
  subscribe: "read",
  cancel: "cancel",
  "push-set": "push",
  "push-delete": "push",
  "push-get": "read",
  "push-list": "read",
  "extended-card": undefined,
  card: undefined,
  agents: undefined,
};
const OPS = Object.keys(NEEDS) as Operation["op"][];

export function faultOf(work: () => unknown): Fault | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** What every guard must do that asks who calls. */
export function guardContract(name: string, create: () => Promise<GuardUnderTest>): void {
  describe(`a guard: ${name}`, () => {
    let under: GuardUnderTest;
    let guard: Authenticator;
    beforeAll(async () => {
      under = await create();
      guard = under.guard;
    });
    afterAll(() => under.close());

    const know = async (badge: Identity): Promise<Principal> =>
      guard.requirePrincipal(await guard.authenticate(callerOf(await under.show(badge))));
    const identified = async (shown: Partial<Caller>): Promise<unknown> => {
      try {
        return await guard.authenticate(callerOf(shown));
      } catch (error) {
        return error;
      }
    };

    it("tells in cards how one shows who one is", () => {
      expect(guard.schemes.length).toBeGreaterThan(0);
      expect(new Set(guard.schemes.map(scheme => scheme.name)).size).toBe(guard.schemes.length);
    });

    it("knows who shows who he is, and what he may do", async () => {
      for (const badge of BADGES) {
        const { principal, tenants, grants, agents } = badge;
        expect(await know(badge)).toMatchObject({ subject: principal, tenants, grants });
        expect((await know(badge)).agents).toEqual(agents && new Set(agents));
        expect(await (await know(badge)).isValid()).toBe(true);
      }
    });

    it("knows nothing of who shows nothing, and says what to show", async () => {
      expect(await identified({})).toBeUndefined();
      const fault = faultOf(() => guard.requirePrincipal(undefined));
      expect(fault).toMatchObject({ code: "unauthenticated", details: { challenge: expect.any(String) } });
      expect(fault?.details.challenge).not.toContain("error");
    });

    it("refuses what is not good, and says what to show instead", async () => {
      for (const [why, shown] of Object.entries(under.bad)) {
        const fault = await identified(shown);
        expect(fault, why).toMatchObject({
          code: "unauthenticated",
          details: { challenge: expect.any(String) },
        });
      }
    });

    it("lets nobody do what is not granted, and names what is missing", async () => {
      const all = await know(ALICE);
      for (const op of OPS) {
        const needed = NEEDS[op];
        for (const grant of PERMISSIONS) {
          const admit = (): unknown => guard.authorize({ ...all, grants: [grant] }, operation(op));
          if (needed === undefined || needed === grant) expect(faultOf(admit)).toBeUndefined();
          else
            expect(faultOf(admit)).toMatchObject({
              code: "forbidden",
              message: expect.stringContaining(`"${needed}"`),
            });
        }
      }
      const push = operation("send", { send: { ...SEND, push: { field: "push", config: {} } } });
      expect(faultOf(() => guard.authorize({ ...all, grants: ["send"] }, push))).toMatchObject({
        code: "forbidden",
      });
      expect(faultOf(() => guard.authorize({ ...all, grants: ["send", "push"] }, push))).toBeUndefined();
    });

    it("B-V4: takes the tenant that the call names, else the only one; another one is like an agent that is not there", async () => {
      const one = await know(ALICE);
      expect(guard.authorize(one, operation("get"))).toEqual({ tenant: "acme", principal: "alice" });
      expect(guard.authorize(one, operation("get", { tenant: "acme" }))).toMatchObject({ tenant: "acme" });
      const unknown = faultOf(() => guard.authorize(one, operation("get", { tenant: "beta" })));
      expect(unknown).toMatchObject({
        code: "agent-not-found",
        message: 'There is no agent "beta" here; there are: echo, open',
      });
      const several = await know(SOME);
      expect(guard.authorize(several, operation("get", { tenant: "beta" }))).toMatchObject({
        tenant: "beta",
        principal: "bob",
        agents: new Set(["echo"]),
      });
      const which = faultOf(() => guard.authorize(several, operation("get")));
      expect(which).toMatchObject({ code: "invalid-params", details: { field: "tenant" } });
    });

    it("shows everybody what is here, and lets everybody in where an agent is for everybody", () => {
      expect(guard.authorize(undefined, operation("card"))).toEqual({
        tenant: "public",
        principal: "anonymous",
      });
      expect(guard.authorize(undefined, operation("agents"))).toEqual({
        tenant: "public",
        principal: "anonymous",
      });
      const agent = "open" as AgentName;
      for (const op of ["send", "stream", "get", "subscribe", "cancel"] as const)
        expect(guard.authorize(undefined, operation(op, { agent }))).toMatchObject({
          agents: new Set(["open"]),
        });
    });

    it("B-V6: tells strangers nothing else, whether there is something or not", () => {
      for (const agent of ["echo", "secret", "nobody"])
        for (const op of OPS.filter(one => one !== "card" && one !== "agents"))
          expect(faultOf(() => guard.authorize(undefined, operation(op, { agent })))).toEqual(
            faultOf(() => guard.requirePrincipal(undefined)),
          );
      for (const op of ["list", "push-set", "push-get", "push-list", "push-delete", "extended-card"] as const)
        expect(faultOf(() => guard.authorize(undefined, operation(op, { agent: "open" })))).toMatchObject({
          code: "unauthenticated",
        });
    });
  });
}
