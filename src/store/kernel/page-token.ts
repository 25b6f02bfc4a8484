import { Fault } from "../../model/index.ts";

/** Lists are ordered by revision, as it was when the first page was read. */
export interface ListCursor {
  /** The newest revision when the first page was read. */
  readonly maxRev: number;
  /** The revision of the last task on the previous page. */
  readonly beforeRev: number;
}

/** The token is a position only: it contains no secret and grants no access. */
export function encodePageToken(cursor: ListCursor): string {
  return Buffer.from(`${cursor.maxRev}.${cursor.beforeRev}`).toString("base64url");
}

export function decodePageToken(token: string | undefined, newestRev: number): ListCursor {
  if (!token) return { maxRev: newestRev, beforeRev: Number.MAX_SAFE_INTEGER };
  const found = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(token, "base64url").toString("latin1"));
  const cursor = found && { maxRev: Number(found[1]), beforeRev: Number(found[2]) };
  if (!cursor || encodePageToken(cursor) !== token)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  return cursor;
}
