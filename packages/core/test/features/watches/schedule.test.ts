import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Duration } from "effect"
import * as fc from "fast-check"
import type { WatchRecord } from "../../../src/features/watches/WatchRecord.ts"
import { LOOK_EVERY } from "../../../src/heart/replicas/ownerOf.ts"
import { dueProbes, nextProbeAt } from "../../../src/features/watches/schedule.ts"
import { watchOf } from "./watchOf.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const START = Instant.fromMillis(1_772_323_200_000)
const at = (seconds: number): Instant.Instant => Instant.plus(START, Duration.seconds(seconds))

const replica = (
  id: string,
  seen_at = START,
  more: { readonly probes?: boolean; readonly ended_at?: Instant.Instant } = {},
) => ({
  id,
  probes: true,
  ended_at: undefined,
  seen_at,
  ...more,
})

const owners = (watches: ReadonlyArray<WatchRecord>, ids: ReadonlyArray<string>) =>
  new Map(
    dueProbes(
      watches,
      ids.map((id) => replica(id)),
      START,
      sha256,
    ).map(({ owner, watch }) => [watch.name, owner]),
  )

const ids = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1 })
const watchList = (count: number) =>
  Array.from({ length: count }, (_, n) => watchOf({ name: CheckId.make(`page-${n}`), next_probe_at: START }))

describe("the owner of a watch", () => {
  it("is one live replica, and moves only with the replica that comes or goes", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 40 }), (all, count) => {
        const watches = watchList(count)
        const before = owners(watches, all)
        assert.strictEqual(before.size, count)
        for (const owner of before.values()) assert.include(all, owner)
        const [gone, ...rest] = all
        if (rest.length === 0) return
        for (const [name, owner] of owners(watches, rest))
          if (before.get(name) !== gone) assert.strictEqual(owner, before.get(name))
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it("spreads watches over all replicas", () => {
    const counts = new Map<string | undefined, number>()
    for (const owner of owners(watchList(300), ["a", "b", "c"]).values())
      counts.set(owner, (counts.get(owner) ?? 0) + 1)
    for (const id of ["a", "b", "c"]) assert.isAbove(counts.get(id) ?? 0, 60)
  })

  it("is no replica that has ended, does not probe, or was last seen 25 s ago", () => {
    const gone = [
      replica("ended", START, { ended_at: START }),
      replica("library", START, { probes: false }),
      replica("silent", at(-25)),
      replica("ahead", at(60)),
    ]
    for (const { owner } of dueProbes(watchList(20), [...gone, replica("live", at(-24))], START, sha256))
      assert.strictEqual(owner, "live")
    for (const { owner } of dueProbes(watchList(1), gone, START, sha256)) assert.isUndefined(owner)
  })
})

describe("when a watch is due", () => {
  it("is once a period, whatever happens in between", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 86_400 }),
        fc.integer({ min: 0, max: 86_400 }),
        (every, later) => {
          const watch = watchOf({ every_millis: every * 1_000 })
          const next = nextProbeAt(watch, START, sha256)
          assert.isTrue(next > START && next <= at(every))
          // A later result belongs to the same grid: a restart does not move the schedule.
          const after = nextProbeAt(watch, at(later), sha256)
          assert.strictEqual((after - next) % BigInt(every * 1_000_000), 0n)
          assert.isTrue(after > at(later) && after <= at(later + every))
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })

  it("is not while it is paused, and at once where a clock that was ahead dated it", () => {
    const due = (given: Partial<WatchRecord>) =>
      dueProbes([watchOf({ next_probe_at: START, ...given })], [replica("a")], START, sha256).length
    assert.strictEqual(due({}), 1)
    assert.strictEqual(due({ paused_until: at(1) }), 0)
    assert.strictEqual(due({ paused_until: START }), 1)
    assert.strictEqual(due({ next_probe_at: at(60), every_millis: 60_000 }), 0)
    assert.strictEqual(due({ next_probe_at: at(61), every_millis: 60_000 }), 1)
  })
})

type Move =
  | { readonly kind: "dies" | "joins"; readonly id: string }
  | { readonly kind: "waits"; readonly seconds: number }

const REPORTS = 15
const PERIOD = 30

/** Plays replicas that look every 5 s: each due probe is run by whom the replica itself finds to be its owner. */
const play = (moves: ReadonlyArray<Move>) => {
  const seen = new Map<string, number>([["a", 0]])
  const running = new Set(["a"])
  const probed: Array<number> = []
  let watch = watchOf({ every_millis: PERIOD * 1_000, next_probe_at: START })
  let now = 0
  const step = () => {
    now += Duration.toSeconds(LOOK_EVERY)
    for (const id of running) if (now % REPORTS === 0) seen.set(id, now)
    const rows = Array.from(seen, ([id, when]) => replica(id, at(when)))
    const [due] = dueProbes([watch], rows, at(now), sha256)
    if (due?.owner === undefined || !running.has(due.owner)) return
    probed.push(now)
    watch = { ...watch, next_probe_at: nextProbeAt(watch, at(now), sha256) }
  }
  for (const move of moves) {
    if (move.kind === "dies" && running.size > 1) running.delete(move.id)
    if (move.kind === "joins") {
      running.add(move.id)
      seen.set(move.id, now)
    }
    if (move.kind === "waits") for (let left = move.seconds; left > 0; left -= 5) step()
  }
  return probed
}

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constantFrom("dies" as const, "joins" as const), id: fc.constantFrom("a", "b", "c") }),
  fc.record({ kind: fc.constant("waits" as const), seconds: fc.integer({ min: 5, max: 120 }) }),
)

describe("replicas that come and go", () => {
  it("probe once a period, and at most a takeover of 30 s later", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        const times = play(moves)
        for (const [index, time] of times.entries()) {
          const before = times[index - 1]
          // The first probe comes at once, and the second one by the grid of its name.
          if (before === undefined) continue
          assert.isAtMost(time - before, PERIOD + 30 + 5)
          const later = times[index + 1]
          if (index > 1 && later !== undefined) assert.isAbove(later - before, PERIOD)
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})
