/** Visits all items, so many in each turn of the event loop: other work runs in between. */
export async function visitOverTurns<Item>(
  items: readonly Item[],
  perTurn: number,
  visit: (item: Item) => void,
): Promise<void> {
  for (let i = 0; i < items.length; i += perTurn) {
    if (i > 0) await new Promise(resolve => void setImmediate(resolve));
    items.slice(i, i + perTurn).forEach(visit);
  }
}
