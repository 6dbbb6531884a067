import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { keyOf } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { Arbitrary, Duration, Effect, Result } from "effect"
import { oneOf, weighted } from "../properties/arbitraries.ts"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openIncidents, openTimeline } from "../service/Timeline.ts"

/** The agent `a`, whose lists and results may be of another moment than now. Lists go to a server that stays. */
const open = Effect.fnUntraced(function* () {
  const timeline = yield* openTimeline({
    deadAfter: Duration.days(1),
    process: { keepsHouse: true, retention: { history: Duration.hours(1) } },
  })
  const { agent, after, service } = timeline
  const front = yield* service.open("second", { keepsHouse: false, delivers: false })
  const ago = (seconds: number) =>
    Effect.map(Instant.now, (now) => Instant.minus(now, Duration.seconds(seconds)))
  const lists = Effect.fnUntraced(function* (ids: ReadonlyArray<string | object>, secondsAgo = 0) {
    const checks = ids.map((one) => (typeof one === "string" ? { check_id: one } : one))
    const as_of = Instant.format(yield* ago(secondsAgo))
    const request = Result.getOrThrow(decodeExpectationsRequest({ complete: true, as_of, checks }))
    yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
    yield* settled
  })
  const reports = Effect.fnUntraced(function* (check: string, status: CheckStatus, secondsAgo = 0) {
    yield* agent().reports({ check, status, observedAt: yield* ago(secondsAgo) })
  })
  const row = (check: string) =>
    Array.from(service.rows().checks.values()).find(({ check_id }) => check_id === CheckId.make(check))
  const counts = Effect.map(front.queries.overview, ({ states }) => states)
  const alive = Effect.fnUntraced(function* (minutes: number) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* agent().heartbeats
      yield* after("1 minute")
    }
  })
  return { ...timeline, ago, alive, counts, front, lists, reports, row }
})

describe("a check that its agent no longer lists", () => {
  it.effect(
    "leaves its incident after two minutes, without a recovery, and is deleted after its history",
    () =>
      Effect.gen(function* () {
        const { after, alive, counts, incidents, lists, outbox, reports, row, service, webhook } =
          yield* open()
        yield* lists(["disk", "load"])
        yield* reports("disk", "critical")
        yield* reports("by-hand", "warning")
        yield* after("1 minute")
        yield* lists(["load"])
        yield* alive(1)
        yield* incidents.areOpen("a/disk", "a/by-hand")
        yield* alive(2)
        yield* incidents.areOpen("a/by-hand")
        assert.isDefined(row("disk")?.withdrawn_at)
        assert.deepInclude(yield* counts, { critical: 0, warning: 1, withdrawn: 1 })
        yield* webhook.has("firing critical a/disk", "firing warning a/by-hand", "resolved critical a/disk")
        assert.deepStrictEqual(
          Array.from(service.rows().incidents.values()).find(({ state }) => state === "resolved")?.resolution,
          { reason: "withdrawn", of: "check" },
        )
        assert.lengthOf(outbox.items(), 3)
        yield* after("62 minutes")
        assert.isUndefined(row("disk"))
        assert.isDefined(row("by-hand"))
      }),
  )

  it.effect(
    "opens nothing by a result of before the list, and opens an incident again by a later equal one",
    () =>
      Effect.gen(function* () {
        const { alive, counts, incidents, lists, reports, row } = yield* open()
        yield* lists(["disk", "new"])
        yield* reports("disk", "critical")
        yield* alive(1)
        yield* lists([])
        yield* alive(3)
        yield* reports("disk", "critical", 200)
        yield* reports("new", "critical", 200)
        yield* incidents.areOpen()
        assert.deepInclude(yield* counts, { critical: 0, withdrawn: 2 })
        yield* reports("disk", "critical")
        yield* incidents.areOpen("a/disk")
        assert.isUndefined(row("disk")?.withdrawn_at)
        assert.deepInclude(yield* counts, { critical: 1, withdrawn: 1 })
        yield* alive(5)
        yield* incidents.areOpen("a/disk")
      }),
  )

  it.effect("stays by a result observed after the list, and an older list withdraws nothing", () =>
    Effect.gen(function* () {
      const { alive, incidents, lists, reports, row } = yield* open()
      yield* lists(["disk"])
      yield* reports("disk", "critical")
      yield* alive(1)
      yield* lists([])
      yield* alive(1)
      yield* reports("disk", "critical")
      yield* alive(3)
      yield* incidents.areOpen("a/disk")
      assert.isUndefined(row("disk")?.withdrawn_at)
      yield* lists(["disk"])
      yield* lists([], 50)
      yield* alive(3)
      yield* incidents.areOpen("a/disk")
    }),
  )

  it.effect("is not withdrawn while an older server runs, beside which lists are refused", () =>
    Effect.gen(function* () {
      const { front, lists } = yield* open()
      const started_at = yield* Instant.now
      const older = {
        id: "older",
        version: "0.3.0",
        policy_hash: "",
        receivers: [],
        probes: false,
        started_at,
        isEmptyPolicy: true,
      }
      yield* front.commits.transact(reportReplica(older, signedBy("system")))
      const refused = yield* Effect.flip(lists(["disk"]))
      assert.match(refused.message, /^as_of must be absent/)
    }),
  )

  it.effect("is no longer expected, and leaves the incident of late checks as no longer checked", () =>
    Effect.gen(function* () {
      const { alive, incidents, lists, service } = yield* open()
      yield* lists([{ check_id: "backup", every: "1m", incident: "own" }])
      yield* alive(5)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* lists([])
      yield* alive(1)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* alive(2)
      yield* incidents.areOpen()
      assert.strictEqual(service.rows().expectations.size, 0)
      assert.deepStrictEqual(
        Array.from(service.rows().incidents.values(), ({ resolution }) => resolution),
        [{ reason: "withdrawn", of: "check" }],
      )
    }),
  )
})

const CHECKS = ["x", "y", "z"] as const
type Name = (typeof CHECKS)[number]
const LISTS: ReadonlyArray<ReadonlyArray<Name>> = [[], ["x"], ["y", "z"], ["x", "y"], ["x", "y", "z"]]

/** Seconds between two steps: no look falls on one, whatever began with another. */
const STEP = 50
const WITHDRAWN_AFTER = 120

/** The sentences of docs/rules.md#withdrawn-checks about one agent, in seconds, as plainly as they stand there. */
class NaiveAgent {
  newest: number | undefined
  listed: ReadonlyArray<Name> = []
  readonly had = new Set<Name>()
  readonly leavingAt = new Map<Name, number>()
  readonly withdrawn = new Set<Name>()
  readonly observed = new Map<Name, number>()
  readonly status = new Map<Name, CheckStatus>()
  readonly failing = new Set<Name>()

  takesList(ids: ReadonlyArray<Name>, madeAt: number, now: number): void {
    const before = this.newest
    const asOf = Math.min(madeAt, now)
    if (before !== undefined && asOf < before) return
    this.newest = asOf
    this.listed = ids
    for (const id of ids) {
      this.had.add(id)
      this.leavingAt.delete(id)
      this.withdrawn.delete(id)
    }
    for (const id of this.had) {
      if (ids.includes(id) || this.withdrawn.has(id)) continue
      const isWaiting = this.leavingAt.has(id) && (this.observed.get(id) ?? -Infinity) < (before ?? 0)
      if (!isWaiting) this.leavingAt.set(id, now + WITHDRAWN_AFTER)
    }
  }

  passes(now: number): void {
    for (const [id, at] of this.leavingAt) {
      if (at > now) continue
      this.leavingAt.delete(id)
      if ((this.observed.get(id) ?? -Infinity) >= (this.newest ?? 0)) continue
      this.withdrawn.add(id)
      this.failing.delete(id)
    }
  }

  reports(id: Name, status: CheckStatus, observedAt: number): void {
    if (observedAt < (this.observed.get(id) ?? -Infinity)) return
    const isBefore = this.newest !== undefined && observedAt < this.newest
    const isOld = isBefore && this.had.has(id) && !this.listed.includes(id)
    if (!isOld) this.withdrawn.delete(id)
    this.observed.set(id, observedAt)
    this.status.set(id, status)
    if (status === "ok") this.failing.delete(id)
    else if (!isOld) this.failing.add(id)
  }

  view() {
    const reported = CHECKS.filter((id) => this.status.has(id))
    return {
      withdrawn: reported.filter((id) => this.withdrawn.has(id)),
      failing: reported.filter((id) => this.failing.has(id)),
      ok: reported.filter((id) => !this.withdrawn.has(id) && this.status.get(id) === "ok").length,
      critical: reported.filter((id) => !this.withdrawn.has(id) && this.status.get(id) === "critical").length,
    }
  }
}

const lag = oneOf(0, 0, 10, 60, 110, 170, -30)
const result = Arbitrary.all({
  check: oneOf(...CHECKS),
  status: oneOf("ok" as const, "critical" as const),
  lag,
})
const step = weighted<
  | { readonly list: ReadonlyArray<Name>; readonly lag: number }
  | { readonly check: Name; readonly status: CheckStatus; readonly lag: number }
  | {
      readonly spooled: ReadonlyArray<{
        readonly check: Name
        readonly status: CheckStatus
        readonly lag: number
      }>
    }
  | "waits"
  | "restarts"
>(
  [2, Arbitrary.all({ list: oneOf(...LISTS), lag })],
  [3, result],
  [1, Arbitrary.all({ spooled: Arbitrary.array(result, { minLength: 2, maxLength: 5 }) })],
  [2, Arbitrary.Constant("waits" as const)],
  [1, Arbitrary.Constant("restarts" as const)],
)

describe("withdrawing", () => {
  it.effect.prop(
    "follows its sentences, whatever lists and results come in which order, also spooled ones and over restarts",
    { steps: Arbitrary.array(step, { minLength: 3, maxLength: 25 }) },
    ({ steps }) =>
      Effect.gen(function* () {
        const { after, agent, ago, counts, front, isDownFor, lists, reports, row } = yield* open()
        const model = new NaiveAgent()
        let now = 1_000
        for (const each of steps) {
          if (each === "waits") {
            yield* agent().heartbeats
            yield* after(Duration.seconds(STEP))
            now += STEP
            model.passes(now)
          } else if (each === "restarts") {
            const before = yield* Instant.now
            yield* isDownFor(Duration.seconds(STEP))
            now += Instant.secondsBetween(before, yield* Instant.now)
            model.passes(now)
          } else if ("spooled" in each) {
            const results = yield* Effect.forEach(each.spooled, ({ lag: seconds, ...one }) =>
              Effect.map(ago(seconds), (observedAt) => ({ ...one, observedAt })),
            )
            yield* agent().reports(...results)
            for (const one of each.spooled) model.reports(one.check, one.status, now - one.lag)
          } else if ("list" in each) {
            yield* lists(each.list, each.lag)
            model.takesList(each.list, now - each.lag, now)
          } else {
            yield* reports(each.check, each.status, each.lag)
            model.reports(each.check, each.status, now - each.lag)
          }
          const { failing, withdrawn, ...expected } = model.view()
          assert.deepStrictEqual(
            CHECKS.filter((id) => row(id)?.withdrawn_at !== undefined),
            withdrawn,
          )
          const keys = (yield* openIncidents(front)).map(({ incident_key }) => String(incident_key))
          assert.sameMembers(
            keys,
            failing.map((id) => `a/${id}`),
          )
          assert.deepInclude(yield* counts, { ...expected, withdrawn: withdrawn.length })
        }
      }),
    { arbitrary: { runs: propertyRuns(400) } },
  )
})
