import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { gcDuration, processMetrics } from "../../src/metrics/processMetrics.ts"

it.live("collections of every kind are told of before the first one", () =>
  Effect.gen(function* () {
    const families = yield* yield* processMetrics("1.2.3")
    const { readings } = families.find(({ definition }) => definition === gcDuration) ?? {}
    assert.sameMembers(
      (readings ?? []).map(({ labels }) => labels[0]),
      ["major", "minor", "incremental", "weakcb"],
    )
  }).pipe(Effect.scoped),
)
