/** Orders rows by the first of their values that differs. */
export const comparing =
  <Row>(...values: ReadonlyArray<(row: Row) => bigint | number | string>) =>
  (a: Row, b: Row): number => {
    for (const valueOf of values) {
      const [left, right] = [valueOf(a), valueOf(b)]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
