/** Where updates of a task are delivered to, as a caller asked for it. */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  /** The dialect of the call that set it: its words are delivered, whoever moves the task. */
  readonly origin: string;
  /** "status": what goes into artifacts is left out. */
  readonly events: "all" | "status";
  /** Sent back with each delivery, so that the receiver knows what it is about. */
  readonly token?: string;
  readonly authentication?: PushAuthentication;
  /** Shared with the receiver, for signatures that it can check without our keys. */
  readonly secret?: string;
}
export interface PushAuthentication {
  /** The first one goes before the credentials; none: they go alone. */
  readonly schemes: readonly string[];
  readonly credentials?: string;
  /** Where the credentials go, if not into `Authorization`. */
  readonly header?: string;
}
/** As a caller gives it: without an id it gets one. */
export type NewPush = Omit<PushConfig, "id"> & { readonly id?: string };

/** Whom a config's deliveries go to: name and port. */
export const hostOf = ({ url }: Pick<PushConfig, "url">): string => new URL(url).host;
