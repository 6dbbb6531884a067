import { assert, it, vi } from "@effect/vitest"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import type { CopySource } from "@tocsin/core/kernel/ports/Storage"
import { type PastEntry, Trial } from "@tocsin/simulation/Trial"
import { tryOnHistory } from "@tocsin/simulation/tryOnHistory"
import { start } from "@tocsin/testing/samples"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { Duration, Effect, Stream } from "effect"

const at = (minutes: number) => Instant.plus(start, Duration.minutes(minutes))

const overrideOf = (n: number, from: number, to: number): RotaOverrideRecord => ({
  id: OverrideId.make(uuidV7(BigInt(n), "override")),
  rota: "primary",
  receivers: ["chat", "pager"],
  starts_at: at(from),
  ends_at: at(to),
  note: undefined,
  created_by: "ann",
  created_at: at(n),
})

const POLICY = { policy: {}, notifiers: [] }

it.effect("a trial takes the overrides of a history as they were made, but those that never began", () =>
  Effect.gen(function* () {
    const [taken, never] = [overrideOf(1, 10, 20), overrideOf(2, 30, 25)]
    const source: CopySource = {
      count: () => Effect.succeed(0),
      lastSeq: Effect.succeed(0n),
      rows: ({ columns, name }) =>
        name === "rota_override"
          ? Stream.succeed(
              [taken, never].map((row) =>
                Object.keys(columns).map((column) => {
                  const value: unknown = Reflect.get(row, column)
                  return Array.isArray(value)
                    ? JSON.stringify(value)
                    : ((value ?? null) as string | bigint | null)
                }),
              ),
            )
          : Stream.empty,
    }
    const take = yield* Effect.acquireRelease(
      Effect.sync(() => vi.spyOn(Trial.prototype, "take")),
      (spied) => Effect.sync(() => spied.mockRestore()),
    )
    yield* tryOnHistory(source, {
      inForce: POLICY,
      tried: POLICY,
      since: at(0),
      until: at(60),
      staleAfter: Duration.minutes(2),
    })
    // Both policies take them.
    const expected: PastEntry = { entry: "overridden", override: taken, at: at(1) }
    const entries = take.mock.calls.flatMap(([found]) => found)
    assert.deepStrictEqual(entries, [expected, expected])
  }),
)
