import { Fault } from "../../model/index.ts";
import type { Cursor } from "../single-node/backend.ts";

/** A page token says where a list is: nothing in it is secret, and nothing in it grants anything. */
export function writeCursor(cursor: Cursor): string {
  return Buffer.from(`${cursor.bound}.${cursor.below}`).toString("base64url");
}

export function readCursor(token: string | undefined, newest: number): Cursor {
  if (!token) return { bound: newest, below: Number.MAX_SAFE_INTEGER };
  const found = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(token, "base64url").toString("latin1"));
  const cursor = found && { bound: Number(found[1]), below: Number(found[2]) };
  if (!cursor || writeCursor(cursor) !== token)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  return cursor;
}
