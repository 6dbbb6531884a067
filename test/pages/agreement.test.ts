import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { LINE_STATES, type LineState } from "@tocsin/contract/publicPages/PublicPages"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { keyOf } from "@tocsin/testing/samples"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, heartbeat, report } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

const lines = [{ name: "Disk", match: ["check_id = disk"] }]
const withPage = (more: object = {}) =>
  compilePolicy(
    Result.getOrThrow(
      readPolicy(
        { pages: { p: { title: "P", groups: [{ title: "a", lines }], history: "3d" } }, ...more },
        [],
      ),
    ),
    [],
  )

/** A service whose page `p` shows the check `disk`. */
const open = Effect.gen(function* () {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { front, service } = timeline
  yield* front.policy.replace(withPage())
  const pages = yield* PublicPages.make.pipe(
    Effect.provideService(Storage, front.storage),
    Effect.provideService(Hashing, service.hashing),
    Effect.provideService(PolicyInForce, front.policy),
    Effect.provideService(RuleSettings, front.rules),
  )
  const page = Effect.gen(function* () {
    const found = yield* pages.find("p")
    return typeof found === "object" && "body" in found ? found.body : assert.fail("the page is not read")
  })
  const line = Effect.map(page, ({ groups: [group] }) => group?.lines[0] ?? assert.fail("no line"))
  return { ...timeline, line, page }
})

const OF: Readonly<Record<string, LineState>> = {
  ok: "operational",
  warning: "degraded",
  critical: "down",
  unknown: "down",
  planned: "maintenance",
  late: "down",
}
const GRACE = 300
const secondOf = (at: Instant.Instant) => Number(at / 1_000_000n)

interface Phases {
  readonly from: Instant.Instant
  readonly phases?: ReadonlyArray<{ readonly from: Instant.Instant; readonly state: string }> | undefined
}

/** The state in a second, by the phases of availability. */
const stateAt = ({ phases = [] }: Phases, second: number): LineState => {
  const at = phases.findLastIndex(({ from }) => secondOf(from) <= second)
  const phase = phases[at]
  if (phase === undefined) return "no_data"
  if (phase.state !== "no_data") return OF[phase.state] ?? "no_data"
  const before = phases.slice(0, at).findLast(({ state }) => state !== "no_data")
  if (before === undefined) return "no_data"
  return second - secondOf(phase.from) >= GRACE ? "down" : (OF[before.state] ?? "no_data")
}

const Act = Schema.Literals(["ok", "warning", "critical", "unknown", "heartbeat", "heartbeat ", "nothing"])
const Step = Schema.Struct({
  act: Act,
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 400 })),
})
const Story = Schema.Struct({
  steps: Schema.Array(Step).check(Schema.isMinLength(10), Schema.isMaxLength(25)),
  isExpected: Schema.Boolean,
  /** Whether it reports before it is expected. */
  hasReported: Schema.Boolean,
})

describe("a public page", () => {
  it.effect.prop(
    "agrees with the availability of its checks, to the second",
    [Arbitrary.schema(Story)],
    ([{ hasReported, isExpected, steps }]) =>
      Effect.gen(function* () {
        const { after, disk, front, line } = yield* open
        // A page finds checks every 5 minutes, but one that is late within seconds.
        let isKnown = hasReported || !isExpected
        yield* isKnown ? disk.turns("ok") : heartbeat(front)
        let foldedLast: Instant.Instant | undefined
        if (isExpected) {
          const request = Result.getOrThrow(
            decodeExpectationsRequest({ checks: [{ check_id: "disk", every: "1m" }] }),
          )
          yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
        }
        for (const { act: what, seconds } of steps) {
          if (what === "heartbeat" || what === "heartbeat ") yield* heartbeat(front)
          else if (what !== "nothing" && isKnown) yield* report(front, [{ check: "disk", status: what }])
          yield* after(`${seconds} seconds`)
          const now = yield* Instant.now
          const { availability, days, state } = yield* line
          yield* TestClock.adjust("1 second")
          yield* settled
          const today = Instant.fromMicros(now - (now % 86_400_000_000n))
          const folded = Instant.fromMicros(now - (now % 300_000_000n))
          const read = (to?: Instant.Instant) =>
            Effect.map(
              front.operations.availability({ phases: true, limit: 1, from: today, ...(to && { to }) }),
              ({ items: [item] }) => item ?? { from: today, phases: [], percent: null },
            )
          const whole = yield* read()
          assert.strictEqual(state, stateAt(whole, secondOf(now)))
          isKnown ||= state === "down"
          // A result shows when silence ended before it; bars show it from the next multiple of 5 minutes on.
          if (folded === foldedLast) continue
          foldedLast = folded
          const until = yield* read(folded)
          assert.strictEqual(availability, until.percent)
          const spent = new Map<LineState, number>()
          for (let second = secondOf(today); second < secondOf(folded); second += 1) {
            const each = stateAt(whole, second)
            spent.set(each, (spent.get(each) ?? 0) + 1)
          }
          const worst = LINE_STATES.find((each) => spent.has(each)) ?? "no_data"
          const last = days.at(-1)
          assert.deepStrictEqual(
            [last?.state, last?.minutes],
            [worst, Math.ceil((spent.get(worst) ?? 0) / 60)],
          )
        }
      }).pipe(Effect.orDie),
    { arbitrary: { runs: propertyRuns(15) } },
  )

  it.effect(
    "shows maintenance while a window covers a check that is not ok, and ended days as they were",
    () =>
      Effect.gen(function* () {
        const { after, disk, front, line } = yield* open
        yield* disk.turns("ok")
        const began = yield* Instant.now
        yield* after("10 minutes")
        yield* disk.turns("critical")
        yield* after("2 minutes")
        assert.strictEqual((yield* line).state, "down")
        const window = { name: "always", cron: "* * * * *", tz: "UTC", for: "1m", match: ["check_id = disk"] }
        yield* front.policy.replace(withPage({ windows: [window] }))
        const covered = yield* line
        assert.strictEqual(covered.state, "maintenance")
        yield* front.policy.replace(withPage())
        yield* after("10 minutes")
        yield* disk.turns("ok")
        yield* after("13 hours")
        const { days, state } = yield* line
        assert.strictEqual(state, "down")
        assert.lengthOf(days, 3)
        const first = days.find(({ date }) => date === Instant.format(began).slice(0, 10))
        assert.strictEqual(first?.state, "down")
      }).pipe(Effect.orDie),
  )
})
