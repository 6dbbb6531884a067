/** One statement of a seeding, with a description. */
export interface SeedStep {
  readonly name: string
  readonly sql: string
  /** A large table that it reads as a whole; the planner needs its statistics. */
  readonly reads?: string
}
