/** One statement of a seeding, and what it brings. */
export interface SeedStep {
  readonly name: string
  readonly sql: string
  /** A large table that it reads as a whole, whose statistics the planner needs for that. */
  readonly reads?: string
}
