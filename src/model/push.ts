/** A push notification config: where updates of a task are delivered to. */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  /** The dialect of the call that set it: payloads are encoded in this dialect, whichever dialect the task came in. */
  readonly origin: string;
  /** "status": artifact updates are not delivered. */
  readonly events: "all" | "status";
  /** Sent with each delivery, so that the receiver can validate it. */
  readonly token?: string;
  readonly authentication?: PushAuthentication;
  /** Shared with the receiver: the key of the Standard Webhooks signature. */
  readonly secret?: string;
}
export interface PushAuthentication {
  /** The first one precedes the credentials; none: the credentials are sent alone. */
  readonly schemes: readonly string[];
  readonly credentials?: string;
  /** The header for the credentials; default: `Authorization`. */
  readonly header?: string;
}
/** As a caller sends it: the server creates an id if there is none. */
export type NewPushConfig = Omit<PushConfig, "id"> & { readonly id?: string };

/** Name and port of the receiver. */
export const hostOf = ({ url }: Pick<PushConfig, "url">): string => new URL(url).host;
