import { Effect } from "effect"
import { Silences } from "./Silences.ts"

/** The part of silences in the core. */
export const silences = {
  operations: Silences,
  lists: Effect.map(Silences, ({ silences: list }) => ({ silences: list })),
}
