import { assert, describe, it } from "@effect/vitest"
import { leaveMark } from "@tocsin/core/liveness/outage"
import { IncidentId } from "@tocsin/contract/Identifiers"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { olderMark } from "../service/olderMark.ts"
import { openService } from "../service/Service.ts"

/** A server that leaves marks, beside one of an older version. */
const openBoth = Effect.fnUntraced(function* () {
  const service = yield* openService({ notifiers: ["debug"], deadAfter: Duration.days(1) })
  const process = yield* service.open("first", { delivers: false })
  yield* enroll(process, AGENT)
  yield* Effect.orDie(report(process, [{ check: "disk", status: "critical" }]))
  const id = IncidentId.make(Array.from(service.rows().incidents.keys())[0] ?? assert.fail("no incident"))
  const marks = process.commits.transact(leaveMark(process.rules))
  const olderMarks = olderMark(process)
  const acts = {
    acknowledge: process.operations.acknowledge(id, {}),
    acknowledgeAll: process.operations.acknowledgeAll({ ids: [id] }),
    silence: process.operations.silence({
      matchers: [{ field: "check_id", op: "=", value: "disk" }],
      for: Duration.hours(1),
      comment: "a test",
    }),
  }
  return { acts, marks, olderMarks, process, id }
})

const MESSAGE =
  "a server of an older version runs on the same database and would ignore it: stop or upgrade that server, then try again"

/** The message of an act that is refused. */
const refusalOf = (act: Effect.Effect<unknown, { readonly message: string }>) =>
  Effect.map(Effect.flip(act), ({ message }) => message)

describe("a server of an older version", () => {
  it.effect("shows by its marks, between those of others, and refuses acknowledgements and silences", () =>
    Effect.gen(function* () {
      const { acts, marks, olderMarks } = yield* openBoth()
      yield* marks
      for (let round = 0; round < 3; round++) {
        yield* TestClock.adjust("2 seconds")
        yield* olderMarks
        for (const act of Object.values(acts)) assert.strictEqual(yield* refusalOf(act), MESSAGE)
        yield* TestClock.adjust("2 seconds")
        yield* marks
        for (const act of Object.values(acts)) assert.strictEqual(yield* refusalOf(act), MESSAGE)
      }
    }),
  )

  it.effect("that has stopped for 15 seconds refuses nothing, and leaves withdrawals and notes alone", () =>
    Effect.gen(function* () {
      const { acts, marks, olderMarks, process, id } = yield* openBoth()
      yield* acts.acknowledge
      yield* marks
      yield* TestClock.adjust("1 second")
      yield* olderMarks
      assert.deepStrictEqual(yield* process.operations.withdraw(id), { count: 1 })
      yield* process.operations.note(id, { text: "seen" })
      yield* TestClock.adjust("14 seconds")
      yield* marks
      yield* Effect.flip(acts.silence)
      yield* TestClock.adjust("1 second")
      yield* marks
      yield* acts.silence
      yield* acts.acknowledge
    }),
  )
})
