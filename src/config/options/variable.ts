/** A variable of the environment; empty counts as not set, as many tools set it. */
export const readVariable = (name: string): string | undefined => process.env[name] || undefined;
