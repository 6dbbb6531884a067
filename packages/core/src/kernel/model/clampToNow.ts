import type * as Instant from "@tocsin/contract/formats/Instant"

/** Clamps timestamps in the future, after a clock was set back. Returns the row itself if none is. */
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
