import { afterEach, describe, expect, it } from "vitest";
import type { AccessToken, NewToken, TokenStore } from "../../src/ports/index.ts";

export interface BookUnderTest {
  /** Opens a book; a second one open at the same time is the same book, if `shared`. */
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

/** What every place for tokens must do. */
export function tokenBookContract(name: string, create: () => BookUnderTest): void {
  describe(`a token book: ${name}`, () => {
    let under: BookUnderTest;
    let books: TokenStore[] = [];
    let now = HOUR_MS;
    const open = async (): Promise<TokenStore> => {
      if (books.length === 0) under = create();
      const book = await under.open(() => now);
      books.push(book);
      return book;
    };
    afterEach(async () => {
      for (const book of books) await book.close();
      books = [];
      under.remove();
    });

    it("finds a token by the hash of its secret, as it was made", async () => {
      const book = await open();
      const made = token("one", { agents: ["echo"], tenants: ["acme", "beta"], expiresAt: 2 * HOUR_MS });
      await book.create(made);
      expect(await book.find("hash-one")).toEqual(withoutHash(made));
      expect(await book.find("hash-two")).toBeNull();
      expect(await book.find("id-one")).toBeNull();
    });

    it("lists the newest first", async () => {
      const book = await open();
      for (const [at, one] of ["a", "b", "c"].entries()) await book.create(token(one, { createdAt: at }));
      expect((await book.list()).map(({ name: one }) => one)).toEqual(["c", "b", "a"]);
    });

    it("revokes by id and by hash, once and for all", async () => {
      const book = await open();
      for (const one of ["a", "b"]) await book.create(token(one));
      expect(await book.revoke("id-a", 5)).toMatchObject({ id: "id-a", revokedAt: 5 });
      expect(await book.revoke("hash-b", 6)).toMatchObject({ id: "id-b", revokedAt: 6 });
      expect(await book.revoke("id-a", 7)).toMatchObject({ revokedAt: 5 });
      expect(await book.find("hash-a")).toMatchObject({ revokedAt: 5 });
      expect(await book.revoke("id-c", 8)).toBeNull();
    });

    it("remembers when a token was last used, and that changes nothing that counts", async () => {
      const book = await open();
      await book.create(token("one"));
      const before = book.revision();
      book.recordUse("id-one", 7);
      book.recordUse("id-one", 9);
      expect(await book.find("hash-one")).toMatchObject({ usedAt: 9 });
      expect((await book.list())[0]).toMatchObject({ usedAt: 9 });
      expect(book.revision()).toBe(before);
    });

    it("has another revision after each change", async () => {
      const book = await open();
      const seen = [book.revision()];
      await book.create(token("one"));
      seen.push(book.revision());
      await book.revoke("id-one", 5);
      seen.push(book.revision());
      expect(new Set(seen).size).toBe(3);
    });

    it("sees what another process changes", async context => {
      const book = await open();
      if (!under.shared) return context.skip();
      const other = await open();
      await book.create(token("one"));
      const before = book.revision();
      expect(await other.revoke("id-one", 5)).toMatchObject({ revokedAt: 5 });
      now += 1_000;
      await expect.poll(() => book.revision()).not.toBe(before);
      expect(await book.find("hash-one")).toMatchObject({ revokedAt: 5 });
    });

    it("keeps what it was told over a restart, uses as well", async context => {
      const book = await open();
      if (!under.shared) return context.skip();
      await book.create(token("one"));
      book.recordUse("id-one", 9);
      await book.close();
      books = books.filter(one => one !== book);
      const again = await under.open(() => now);
      books.push(again);
      expect(await again.find("hash-one")).toMatchObject({ principal: "alice", usedAt: 9 });
    });
  });
}
