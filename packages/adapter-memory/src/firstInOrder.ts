/**
 * The first rows by an order, in that order. It reads all rows once and keeps `limit` of them, so a
 * short page of a large table needs no sorting of all its rows.
 */
export const firstInOrder = <Row>(
  rows: Iterable<Row>,
  limit: number,
  compare: (a: Row, b: Row) => number,
): ReadonlyArray<Row> => {
  const found: Array<Row> = []
  for (const row of rows) {
    const last = found.length === limit ? found.at(-1) : undefined
    if (limit === 0 || (last !== undefined && compare(row, last) >= 0)) continue
    if (last !== undefined) found.pop()
    found.splice(placeFor(found, row, compare), 0, row)
  }
  return found
}

/** After all rows that are not behind it. */
const placeFor = <Row>(sorted: ReadonlyArray<Row>, row: Row, compare: (a: Row, b: Row) => number): number => {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    // The search stays between the first and the last index.
    if (compare(sorted[middle] as Row, row) <= 0) from = middle + 1
    else to = middle
  }
  return from
}
