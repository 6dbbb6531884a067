/** How many rows of each kind a seeded storage holds. */
export interface SeedSize {
  readonly agents: number
  /** At least one for each accepted agent; 95 of 100 are ok. */
  readonly checks: number
  /** At least one for each check, which has its status. */
  readonly history: number
  /** Open ones for checks that are not ok and for dead agents; the others are resolved. */
  readonly incidents: number
  readonly outbox: number
}

/** The size for measuring lists and the summary. */
export const fullSize: SeedSize = {
  agents: 100_000,
  checks: 1_000_000,
  history: 10_000_000,
  incidents: 1_000_000,
  outbox: 1_000_000,
}

/** A size for a test: `fullSize` divided by `divisor`. */
export const partOfFullSize = (divisor: number): SeedSize => ({
  agents: fullSize.agents / divisor,
  checks: fullSize.checks / divisor,
  history: fullSize.history / divisor,
  incidents: fullSize.incidents / divisor,
  outbox: fullSize.outbox / divisor,
})

/** One agent of a hundred is pending; all others are accepted. */
export const acceptedAgents = ({ agents }: SeedSize): number => agents - Math.floor(agents / 100)
