import type * as Instant from "@tocsin/contract/Instant"

/**
 * A row whose moments have come: those in the future, which a clock dated that has been set back since,
 * count as now. The row itself if none does.
 */
export const clampToNow = <
  Name extends string,
  Row extends { readonly [N in Name]: Instant.Instant | undefined },
>(
  row: Row,
  names: ReadonlyArray<Name>,
  now: Instant.Instant,
): Row => {
  const ahead = names.filter((name) => isAhead(row[name], now))
  return ahead.length === 0 ? row : { ...row, ...Object.fromEntries(ahead.map((name) => [name, now])) }
}

const isAhead = (at: Instant.Instant | undefined, now: Instant.Instant): boolean =>
  at !== undefined && at > now
