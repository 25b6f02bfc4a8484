import type { AccessToken, NewToken, TokenStore } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";

export interface TokenStoreUnderTest {
  /** Opens a token store; a second one has the same tokens, if `shared`. */
  open(now: () => number): TokenStore | Promise<TokenStore>;
  readonly shared: boolean;
  remove(): void;
}

const HOUR_MS = 3_600_000;
const token = (name: string, more: Partial<NewToken> = {}): NewToken => ({
  id: `id-${name}`,
  hash: `hash-${name}`,
  name,
  principal: "alice",
  tenants: ["acme"],
  grants: ["send", "read"],
  agents: undefined,
  createdAt: 1,
  expiresAt: undefined,
  ...more,
});
const withoutHash = ({ hash: _, ...rest }: NewToken): AccessToken => ({
  ...rest,
  revokedAt: undefined,
  usedAt: undefined,
});

/** The contract of every token store. */
export function tokenStoreContract(create: () => TokenStoreUnderTest): readonly ContractCase[] {
  return defineContract("tokens", ({ afterEach, it }) => {
    let under: TokenStoreUnderTest;
    let opened: TokenStore[] = [];
    let now = HOUR_MS;
    const open = async (): Promise<TokenStore> => {
      if (opened.length === 0) under = create();
      const tokens = await under.open(() => now);
      opened.push(tokens);
      return tokens;
    };
    afterEach(async () => {
      for (const tokens of opened) await tokens.close();
      opened = [];
      under.remove();
    });

    it("finds a token by the hash of its secret, as it was created", async () => {
      const tokens = await open();
      const made = token("one", { agents: ["echo"], tenants: ["acme", "beta"], expiresAt: 2 * HOUR_MS });
      await tokens.create(made);
      expect(await tokens.find("hash-one")).toEqual(withoutHash(made));
      expect(await tokens.find("hash-two")).toBeNull();
      expect(await tokens.find("id-one")).toBeNull();
    });

    it("lists the newest first", async () => {
      const tokens = await open();
      for (const [at, one] of ["a", "b", "c"].entries()) await tokens.create(token(one, { createdAt: at }));
      expect((await tokens.list()).map(({ name: one }) => one)).toEqual(["c", "b", "a"]);
    });

    it("revokes by id and by hash, once", async () => {
      const tokens = await open();
      for (const one of ["a", "b"]) await tokens.create(token(one));
      expect(await tokens.revoke("id-a", 5)).toMatchObject({ id: "id-a", revokedAt: 5 });
      expect(await tokens.revoke("hash-b", 6)).toMatchObject({ id: "id-b", revokedAt: 6 });
      expect(await tokens.revoke("id-a", 7)).toMatchObject({ revokedAt: 5 });
      expect(await tokens.find("hash-a")).toMatchObject({ revokedAt: 5 });
      expect(await tokens.revoke("id-c", 8)).toBeNull();
    });

    it("records when a token was last used, without changing the revision", async () => {
      const tokens = await open();
      await tokens.create(token("one"));
      const before = tokens.revision();
      tokens.recordUse("id-one", 7);
      tokens.recordUse("id-one", 9);
      expect(await tokens.find("hash-one")).toMatchObject({ usedAt: 9 });
      expect((await tokens.list())[0]).toMatchObject({ usedAt: 9 });
      expect(tokens.revision()).toBe(before);
    });

    it("changes its revision with each change", async () => {
      const tokens = await open();
      const seen = [tokens.revision()];
      await tokens.create(token("one"));
      seen.push(tokens.revision());
      await tokens.revoke("id-one", 5);
      seen.push(tokens.revision());
      expect(new Set(seen).size).toBe(3);
    });

    it("sees changes of another process", async context => {
      const tokens = await open();
      if (!under.shared) return context.skip();
      const other = await open();
      await tokens.create(token("one"));
      const before = tokens.revision();
      expect(await other.revoke("id-one", 5)).toMatchObject({ revokedAt: 5 });
      now += 1_000;
      await expect.poll(() => tokens.revision()).not.toBe(before);
      expect(await tokens.find("hash-one")).toMatchObject({ revokedAt: 5 });
    });

    it("keeps tokens and their last use over a restart", async context => {
      const tokens = await open();
      if (!under.shared) return context.skip();
      await tokens.create(token("one"));
      tokens.recordUse("id-one", 9);
      await tokens.close();
      opened = opened.filter(one => one !== tokens);
      const again = await under.open(() => now);
      opened.push(again);
      expect(await again.find("hash-one")).toMatchObject({ principal: "alice", usedAt: 9 });
    });
  });
}
