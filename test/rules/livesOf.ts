import { assert } from "@effect/vitest"
import { Effect } from "effect"

interface Row {
  readonly from: string
  readonly to: string
  readonly trigger: string
}

interface Lives<Step, Kind extends string> {
  readonly table: ReadonlyArray<Row>
  /** The moves that a step may cause, in order; the time may pass both ends. */
  readonly may: Readonly<Record<Kind, ReadonlyArray<string>>>
  /** Begins a life. */
  readonly open: () => {
    /** Whether the step was not refused. */
    readonly act: (step: Step) => Effect.Effect<boolean, unknown>
    readonly state: Effect.Effect<string>
  }
}

/** Plays lives of a planned row, which moves as its table states, and collects the rows that did not happen. */
export const livesOf = <Kind extends string, Step extends { readonly kind: Kind }>({
  may,
  open,
  table,
}: Lives<Step, Kind>) => {
  const missing = new Set(table)
  const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
    const { act, state } = open()
    for (const one of steps) {
      const from = yield* state
      const done = yield* act(one)
      const to = yield* state
      let reached = from
      for (const trigger of may[one.kind]) {
        const row = table.find((each) => each.from === reached && each.trigger === trigger)
        // Of two ways to be created, its start decides.
        if (row === undefined || !done || (row.from === "absent" && row.to !== to)) continue
        if (reached === to && row.from !== row.to) continue
        missing.delete(row)
        reached = row.to
      }
      assert.strictEqual(reached, to, `${one.kind} from ${from}`)
    }
  })
  return { missing, play }
}
