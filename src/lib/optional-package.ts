import { StartupError } from "./startup-error.ts";

/** Loads an optional dependency; if it is not installed, the error names the command that installs it. */
export async function loadOptionalPackage<T>(
  name: string,
  feature: string,
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new StartupError(
      `${feature} needs the package ${name}, which is not installed: npm install ${name}`,
      {
        cause: error,
      },
    );
  }
}
