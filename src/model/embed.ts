/** Makes vectors of texts: texts of similar meaning get similar vectors. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
