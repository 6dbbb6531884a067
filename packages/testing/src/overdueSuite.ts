import { assert, describe, it } from "@effect/vitest"
import { IntegrationName, type IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { resolveCheck } from "@tocsin/core/features/integrations/resolveCheck"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { sweeps } from "./alertSender.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const CRON = IntegrationName.make("cron")
const JOBS = ["a", "b", "c", "d", "e", "f", "g", "h"] as const
type Job = (typeof JOBS)[number]

/** An integration of jobs; each report declares its terms. */
const open = Effect.fnUntraced(function* (replica: Replica, options: IntegrationOptions = {}) {
  const { integrations } = replica
  const { key } = yield* integrations.create({ name: CRON, kind: "ping", options })
  const reports = (path: string, terms: Readonly<Record<string, string>> = { every: "1m" }) =>
    Effect.flatMap(integrations.recognise(Redacted.make(key)), (sender) =>
      integrations.report("ping", sender, {
        method: "POST",
        path: path.split("/"),
        query: Object.entries(terms),
        body: "",
      }),
    )
  const passes = Effect.fnUntraced(function* (halfMinutes: number) {
    for (let n = 0; n < halfMinutes; n++) {
      // A late check is found from 5 s after its due time on.
      yield* TestClock.adjust("25 seconds")
      yield* sweeps(replica, CRON)
      yield* TestClock.adjust("5 seconds")
    }
  })
  const openKeys = Effect.map(rowsOf(replica, "incidents"), (rows) =>
    rows.flatMap(({ incident_key, state }) => (state === "open" ? String(incident_key) : [])).toSorted(),
  )
  return { openKeys, passes, reports }
})

/** The rule of jobs that are cut off, over numbers of half minutes. */
class Model {
  readonly #reported = new Map<Job, number>(JOBS.map((name) => [name, 0]))
  readonly alone = new Map<Job, number>()
  readonly together = new Set<Job>()

  reports(name: Job, now: number): void {
    this.#reported.set(name, now)
    this.alone.delete(name)
    this.together.delete(name)
  }

  passes(now: number): void {
    const late = Array.from(this.#reported, ([name, at]) => ({ name, due: at + 6 }))
      .filter(({ due, name }) => due <= now && !this.alone.has(name) && !this.together.has(name))
      .toSorted((a, b) => a.due - b.due || (a.name < b.name ? -1 : 1))
    for (const { due, name } of late) {
      const five = Array.from(this.alone.values())
        .toSorted((a, b) => b - a)
        .slice(0, 5)
      const areCutOff = five.length === 5 && Math.max(...this.#reported.values()) < Math.min(...five)
      if (areCutOff) this.together.add(name)
      else this.alone.set(name, due)
    }
  }
}

/** Which jobs report in each half minute: often none. */
const story = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Array<Job>>([]) },
    { weight: 1, arbitrary: fc.subarray([...JOBS]) },
  ),
  { minLength: 24, maxLength: 24 },
)

const play = Effect.fnUntraced(function* (replica: Replica, steps: ReadonlyArray<ReadonlyArray<Job>>) {
  const { openKeys, passes, reports } = yield* open(replica)
  const model = new Model()
  for (const [place, names] of [JOBS, ...steps].entries()) {
    for (const name of names) {
      yield* reports(name)
      model.reports(name, place)
    }
    yield* passes(1)
    model.passes(place)
    const alone = Array.from(model.alone.keys(), (name) => `cron/${name}/@overdue`)
    const keys = [...alone, ...(model.together.size > 0 ? ["cron/@overdue"] : [])]
    assert.deepStrictEqual(yield* openKeys, keys.toSorted())
    const overdue = (yield* rowsOf(replica, "overdue")).map(({ check_id }) => check_id)
    assert.sameMembers(
      overdue,
      [...model.alone.keys(), ...model.together].map((name) => CheckId.make(name)),
    )
  }
})

const RUNS = 3

/** The incidents of late jobs (docs/rules.md#late-checks). */
export const overdueSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("overdue jobs", () => {
    it.effect(
      "stand alone, and share an incident from the sixth on while none reports",
      () =>
        forAll(story, { runs: RUNS }, (steps) =>
          Effect.scoped(Effect.flatMap(openReplica(subject), (replica) => play(replica, steps))),
        ),
      PROPERTY_TIMEOUT_MILLIS,
    )
    it.effect("that began and have not ended are late with those words, and end when they are resolved", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { openKeys, passes, reports } = yield* open(replica)
        yield* reports("job/start", { grace: "10m", cron: "0 3 * * *", tz: "UTC" })
        yield* reports("new/start", {})
        yield* passes(21)
        assert.deepStrictEqual(yield* openKeys, ["cron/job/@overdue"])
        yield* passes(101)
        assert.deepStrictEqual(yield* openKeys, ["cron/job/@overdue", "cron/new/@overdue"])
        assert.deepStrictEqual(
          (yield* rowsOf(replica, "incidents")).map(({ summary = "" }) =>
            summary.replace(/[\d-]{10} [\d:]{8} UTC/, "AT"),
          ),
          ["late: began AT and has not ended within 1h", "late: began AT and has not ended within 10m"],
        )
        // Neither has a result yet.
        for (const name of ["job", "new"])
          assert.strictEqual(
            yield* replica.commits.transact(
              resolveCheck(
                { agent_id: CRON, check_id: CheckId.make(name) },
                replica.incidents,
                signedBy("ann"),
              ),
            ),
            1,
          )
        yield* passes(4)
        assert.deepStrictEqual(yield* openKeys, [])
      }),
    )
    it.effect("have the incident that their report, or else their integration, states", () =>
      Effect.gen(function* () {
        const { openKeys, passes, reports } = yield* open(yield* openReplica(subject), { incident: "agent" })
        yield* reports("backup")
        yield* reports("sync", { every: "1m", incident: "own" })
        yield* reports("dump/start", { grace: "3m", cron: "0 3 * * *", tz: "UTC" })
        yield* passes(8)
        assert.deepStrictEqual(yield* openKeys, ["cron/@overdue", "cron/sync/@overdue"])
        yield* reports("backup", { every: "1m", incident: "own" })
        yield* reports("sync", { every: "1m", incident: "agent" })
        yield* passes(8)
        assert.deepStrictEqual(yield* openKeys, ["cron/@overdue", "cron/backup/@overdue"])
      }),
    )
  })
}
