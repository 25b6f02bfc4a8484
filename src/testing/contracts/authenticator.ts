import { agent } from "../../agent/definition.ts";
import { createAuthenticator } from "../../auth/authenticator.ts";
import {
  type AgentName,
  DEFAULT_PERMISSIONS,
  Fault,
  type Identity,
  PERMISSIONS,
  type Permission,
} from "../../model/index.ts";
import type { Authenticator, AuthMethod, Caller, Catalog, Operation, Principal } from "../../ports/index.ts";
import { toAgent } from "../../runtime/function/index.ts";
import { createCatalog } from "../../server/catalog.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";

/** One or several authentication methods, and credentials for them. */
export interface AuthenticatorUnderTest {
  readonly authenticator: Authenticator;
  /** The request of a caller with this identity. */
  show(identity: Identity): Promise<Partial<Caller>> | Partial<Caller>;
  /** Invalid credentials, by the reason. */
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
export const IDENTITIES: readonly Identity[] = [ALICE, SOME];

const echo = agent({ name: "echo", run: task => task.text });
const secret = { ...echo, name: "secret", tenants: ["beta"] };
const open = { ...echo, name: "open", access: "public" as const };
export const createTestCatalog = (): Catalog =>
  createCatalog([echo, secret, open].map(toAgent), "echo" as AgentName, () => 0);

export const toCaller = (shown: Partial<Caller>): Caller => ({
  headers: {},
  certificate: () => undefined,
  ...shown,
});

const ECHO = "echo" as AgentName;
const SEND = { message: { parts: [] }, origin: "v1", extensions: [] };
const operation = (op: Operation["op"], more: object = {}): Operation =>
  ({ op, agent: ECHO, ...(op === "send" || op === "stream" ? { send: SEND } : {}), ...more }) as Operation;

/** The permission that each operation requires. */
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
  "read-resource": "read",
  "write-resource": "send",
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

/** One authentication method, and credentials for it. */
export interface AuthMethodUnderTest extends Omit<AuthenticatorUnderTest, "authenticator"> {
  readonly method: AuthMethod;
}

/** The contract of an authentication method. */
export const authContract = (create: () => Promise<AuthMethodUnderTest>): readonly ContractCase[] =>
  authenticatorContract(async () => {
    const under = await create();
    const authenticator = createAuthenticator({ methods: [under.method], catalog: createTestCatalog() });
    return { ...under, authenticator };
  });

/** The contract of every authenticator that requires credentials. */
export function authenticatorContract(
  create: () => Promise<AuthenticatorUnderTest>,
): readonly ContractCase[] {
  return defineContract("authentication", ({ afterEach, beforeEach, it }) => {
    let under: AuthenticatorUnderTest;
    let authenticator: Authenticator;
    beforeEach(async () => {
      under = await create();
      authenticator = under.authenticator;
    });
    afterEach(() => under.close());

    const know = async (identity: Identity): Promise<Principal> =>
      authenticator.requirePrincipal(await authenticator.authenticate(toCaller(await under.show(identity))));
    const identified = async (shown: Partial<Caller>): Promise<unknown> => {
      try {
        return await authenticator.authenticate(toCaller(shown));
      } catch (error) {
        return error;
      }
    };

    it("declares its security schemes in cards", () => {
      expect(authenticator.schemes.length).toBeGreaterThan(0);
      expect(new Set(authenticator.schemes.map(scheme => scheme.name)).size).toBe(
        authenticator.schemes.length,
      );
    });

    it("identifies a caller with valid credentials, with its permissions", async () => {
      for (const identity of IDENTITIES) {
        const { principal, tenants, grants, agents } = identity;
        expect(await know(identity)).toMatchObject({ subject: principal, tenants, grants });
        expect((await know(identity)).agents).toEqual(agents && new Set(agents));
        expect(await (await know(identity)).isValid()).toBe(true);
      }
    });

    it("challenges a caller without credentials", async () => {
      expect(await identified({})).toBeUndefined();
      const fault = faultOf(() => authenticator.requirePrincipal(undefined));
      expect(fault).toMatchObject({ code: "unauthenticated", details: { challenge: expect.any(String) } });
      expect(fault?.details.challenge).not.toContain("error");
    });

    it("rejects invalid credentials with a challenge", async () => {
      for (const [why, shown] of Object.entries(under.bad)) {
        const fault = await identified(shown);
        expect(fault, why).toMatchObject({
          code: "unauthenticated",
          details: { challenge: expect.any(String) },
        });
      }
    });

    it("rejects operations without permission and names the missing one", async () => {
      const all = await know(ALICE);
      for (const op of OPS) {
        const needed = NEEDS[op];
        for (const grant of PERMISSIONS) {
          const admit = (): unknown => authenticator.authorize({ ...all, grants: [grant] }, operation(op));
          if (needed === undefined || needed === grant) expect(faultOf(admit)).toBeUndefined();
          else
            expect(faultOf(admit)).toMatchObject({
              code: "forbidden",
              message: expect.stringContaining(`"${needed}"`),
            });
        }
      }
      const push = operation("send", { send: { ...SEND, push: { field: "push", config: {} } } });
      expect(faultOf(() => authenticator.authorize({ ...all, grants: ["send"] }, push))).toMatchObject({
        code: "forbidden",
      });
      expect(
        faultOf(() => authenticator.authorize({ ...all, grants: ["send", "push"] }, push)),
      ).toBeUndefined();
    });

    it("B-V4: uses the tenant that the call names, or else the only one; another tenant is reported like a missing agent", async () => {
      const one = await know(ALICE);
      expect(authenticator.authorize(one, operation("get"))).toEqual({ tenant: "acme", principal: "alice" });
      expect(authenticator.authorize(one, operation("get", { tenant: "acme" }))).toMatchObject({
        tenant: "acme",
      });
      const unknown = faultOf(() => authenticator.authorize(one, operation("get", { tenant: "beta" })));
      expect(unknown).toMatchObject({
        code: "agent-not-found",
        message: 'Agent "beta" not found; available: echo, open',
      });
      const several = await know(SOME);
      expect(authenticator.authorize(several, operation("get", { tenant: "beta" }))).toMatchObject({
        tenant: "beta",
        principal: "bob",
        agents: new Set(["echo"]),
      });
      const which = faultOf(() => authenticator.authorize(several, operation("get")));
      expect(which).toMatchObject({ code: "invalid-params", details: { field: "tenant" } });
    });

    it("shows cards to anonymous callers, and lets them call public agents", () => {
      expect(authenticator.authorize(undefined, operation("card"))).toEqual({
        tenant: "public",
        principal: "anonymous",
      });
      expect(authenticator.authorize(undefined, operation("agents"))).toEqual({
        tenant: "public",
        principal: "anonymous",
      });
      const agent = "open" as AgentName;
      for (const op of ["send", "stream", "get", "subscribe", "cancel"] as const)
        expect(authenticator.authorize(undefined, operation(op, { agent }))).toMatchObject({
          agents: new Set(["open"]),
        });
    });

    it("B-V6: tells anonymous callers nothing else, whether something exists or not", () => {
      for (const agent of ["echo", "secret", "unknown"])
        for (const op of OPS.filter(one => one !== "card" && one !== "agents"))
          expect(faultOf(() => authenticator.authorize(undefined, operation(op, { agent })))).toEqual(
            faultOf(() => authenticator.requirePrincipal(undefined)),
          );
      for (const op of ["list", "push-set", "push-get", "push-list", "push-delete", "extended-card"] as const)
        expect(
          faultOf(() => authenticator.authorize(undefined, operation(op, { agent: "open" }))),
        ).toMatchObject({
          code: "unauthenticated",
        });
    });
  });
}
