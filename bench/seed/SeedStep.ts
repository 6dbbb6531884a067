/** One statement of a seeding, and what it brings. */
export interface SeedStep {
  readonly name: string
  readonly sql: string
}
