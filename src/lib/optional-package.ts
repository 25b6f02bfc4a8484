/** Libraries that not everybody needs, and not everybody has. */

/** What is asked for and not installed: the message says how to get it. */
export class MissingPeer extends Error {
  override readonly name = "MissingPeer";
}

/** Loads a library, or says which command installs it. `what`: what needs it. */
export async function loadPeer<T>(name: string, what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new MissingPeer(`${what} needs the package ${name}, which is not installed: npm install ${name}`, {
      cause: error,
    });
  }
}
