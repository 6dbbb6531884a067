import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { noFacts, readFacts, withFacts } from "@tocsin/core/heart/availability/readFacts"
import { ALL_CHECKS, firstRows } from "@tocsin/core/kernel/engine/lists/readPage"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { PageHistory } from "@tocsin/core/features/publicPages/PageHistory"
import { Duration, Effect, Result } from "effect"
import { report } from "../service/agents.ts"
import { openTimeline } from "../service/Timeline.ts"

const sha256 = (text: string) => text
const policy = compilePolicy(Result.getOrThrow(readPolicy({}, [])), [])

/** Two checks, of which one changes, and both are silent in the end. */
const open = Effect.gen(function* () {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { after, disk, front, incidents } = timeline
  const begun = yield* Instant.now
  yield* report(front, [{ check: "load", status: "warning" }])
  for (const status of ["ok", "critical", "ok"] as const) {
    yield* disk.turns(status)
    yield* after("1 minute")
  }
  yield* after("15 minutes")
  yield* incidents.areOpen("a/@heartbeat", "a/load")
  return { ...timeline, begun }
})

/** Folds a page with these lines, by the matchers of each. */
const fold = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  lines: ReadonlyArray<string>,
  at: Instant.Instant,
) {
  const given = lines.map((matcher, n) => ({ name: `${n}`, match: [matcher] }))
  const document = yield* Effect.fromResult(
    readPolicy({ pages: { p: { title: "P", groups: [{ title: "a", lines: given }], history: "3d" } } }, []),
  )
  const page = document.pages?.["p"] ?? assert.fail("no page")
  const history = new PageHistory(page)
  const today = yield* history.foldToday({ storage, sha256, policy }, at)
  yield* history.foldEnded({ storage, sha256, policy }, today)
  return lines.map((_, n) => ({
    today: today.lines[n]?.today,
    ended: history.daysOf(n, today.days),
    gaps: today.lines[n]?.checks.map((check) => today.gaps.get(check)),
  }))
})

describe("the facts of a check", () => {
  it.effect("have its silences, though its changes are cut", () =>
    Effect.gen(function* () {
      const { begun, front } = yield* open
      const [disk] = yield* withFacts(front.storage, sha256, yield* firstRows(front.storage, ALL_CHECKS, 1))
      if (disk === undefined) return assert.fail("no check")
      const span = { from: begun, to: yield* Instant.now }
      const more = { known: noFacts(), room: 1 }
      const { changes, silent } = yield* readFacts(front.storage, sha256, disk, span, [], more)
      assert.deepStrictEqual([disk.check.check_id, changes.length, silent.length], ["disk", 2, 1])
    }).pipe(Effect.orDie),
  )
})

describe("a check of several lines", () => {
  it.effect("is read once a fold, and each line is as if it were alone", () =>
    Effect.gen(function* () {
      const { front } = yield* open
      const now = Instant.plus(yield* Instant.now, Duration.days(1))
      let reads = 0
      const counted: Storage["Service"] = {
        ...front.storage,
        page: (request) => {
          if (request.list === "history") reads += 1
          return front.storage.page(request)
        },
      }
      const lines = ["check_id = disk", "check_id = load", "check_id = disk", "agent_id = a"]
      const together = yield* fold(counted, lines, now)
      // Two checks, today and on the days before.
      assert.strictEqual(reads, 4)
      for (const [n, line] of lines.entries())
        assert.deepStrictEqual([together[n]], yield* fold(front.storage, [line], now))
      assert.deepInclude(together[0]?.today, { state: "down" })
      assert.deepStrictEqual(
        together[0]?.ended.map((day) => day?.state),
        ["down", "no_data"],
      )
    }).pipe(Effect.orDie),
  )
})
