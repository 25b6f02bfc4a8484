/** The parts of a server that a program may bring itself, in place of those of the server or beside them. */
import type { AgentDefinition, AgentSpec, Load, LoadContext } from "../agent/definition.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { AuthMethod, Dialect, RemoteBus, RemoteBusParts, Store } from "../ports/index.ts";
import { createDialects, type DialectOptions } from "../protocol/index.ts";
import type { StoreParts } from "../store/kernel/store-parts.ts";

export type OpenStorePort = (parts: StoreParts) => Store | Promise<Store>;
export type OpenBusPort = (parts: RemoteBusParts) => RemoteBus | Promise<RemoteBus>;
/** Creates an agent from its entry in `agents`: `{ runtime: "NAME", name, … }`. */
export type CreateAgent = (
  spec: AgentSpec,
  load: Load,
  context: LoadContext,
) => AgentDefinition | Promise<AgentDefinition>;

export interface ServerPorts {
  /** Opens the store of tasks. Tokens and keys stay in the folder that `data` names. Default: what `data` names. */
  readonly store?: OpenStorePort | undefined;
  /** Opens the bus between the nodes of a cluster. Default: through the database or `notify`; one node needs none. */
  readonly bus?: OpenBusPort | undefined;
  /** Further protocols. They may claim a call before those of the server. */
  readonly protocols?: readonly Dialect[] | undefined;
  /** Further ways to authenticate, tried before those of `auth`; with them, a call without credentials is refused. */
  readonly authenticators?: readonly AuthMethod[] | undefined;
  /** Further runtimes, by the name that entries of `agents` use. */
  readonly runtimes?: Readonly<Record<string, CreateAgent>> | undefined;
}

/** All protocols of a server, in the order in which they may claim a call. */
export function listDialects(
  options: DialectOptions,
  { protocols = [] }: Pick<ServerPorts, "protocols"> = {},
): readonly Dialect[] {
  const own = createDialects(options);
  const names = own.map(({ name }) => name);
  for (const { name } of protocols) {
    if (names.includes(name))
      throw new StartupError(`There are two protocols with the name "${name}". Choose another name.`);
    names.push(name);
  }
  return [...protocols, ...own];
}
