/** Something the person who starts the server can put right; the message says how. */
export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
}

/** What can be done about a store that is not whole. */
export const WAYS_OUT =
  'Restore a backup (made with "dragoman backup"), or look at what is left with "dragoman doctor". ' +
  "To go on with what is left, start once with --accept-data-loss";
