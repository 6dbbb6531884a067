import type { Effect, Scope } from "effect"
import type { BenchFailure } from "./BenchFailure.ts"
import type { ScratchPostgres } from "./postgres/scratchPostgres.ts"

/** How long and how often to measure. */
export interface Measures {
  readonly agents: number
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repeats: number
  readonly settleSeconds: number
  readonly soakSeconds: number
}

/** The tools of every case. */
export interface Bench {
  readonly measures: Measures
  /** The module that starts the server. */
  readonly main: string
  /** That of the checkout to compare with, if any. */
  readonly against: string | undefined
  readonly profileFolder: string | undefined
  /** An empty folder on the disk that is measured, removed with the scope. */
  readonly folder: Effect.Effect<string, never, Scope.Scope>
  /** Started when first asked for, for the whole run. */
  readonly postgres: Effect.Effect<ScratchPostgres, BenchFailure>
  /** Reports the current step to the person who waits. */
  readonly tell: (text: string) => Effect.Effect<void>
}
