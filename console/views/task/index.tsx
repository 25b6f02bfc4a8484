export function OneTask({ id }: { readonly id: string }) { return <p>{id}</p>; }
