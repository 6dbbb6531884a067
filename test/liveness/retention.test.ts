import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { assert, describe, it } from "@effect/vitest"
import { atMost } from "@tocsin/testing/records"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expireAll, purge } from "@tocsin/testing/expireAll"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { AGENT, heartbeat, enroll, report } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openService, type Process } from "../service/Service.ts"
import { boolean, integer, oneOf, weighted } from "../properties/arbitraries.ts"
import { claimItems } from "@tocsin/testing/claimItems"

const OTHER = AgentId.make("other")
const ENDED = ["sent", "failed", "discarded"]

const open = Effect.gen(function* () {
  const service = yield* openService({ notifiers: ["webhook"] })
  const front = yield* service.open("front", { delivers: false })
  // Time without housekeeping is then an outage, after which no agent is dead.
  yield* front.commits.transact(writeServiceHeartbeat(defaultRules))
  return { service, front }
})

const all = { filter: {}, direction: "asc", from: undefined, isBackward: false, limit: 100_000 } as const

const everything = Effect.fnUntraced(function* ({ storage }: Process) {
  return {
    history: yield* storage.page({ ...all, list: "history", sort: "stored" }),
    incidents: yield* storage.page({ ...all, list: "incidents", sort: "opened_at" }),
    outbox: yield* storage.page({ ...all, list: "outbox", sort: "updated_at" }),
  }
})

type Rows = Effect.Success<ReturnType<typeof everything>>

interface Bounds {
  readonly history: Instant.Instant | undefined
  readonly outbox: Instant.Instant | undefined
  readonly incidents: Instant.Instant | undefined
}

/** The rows that must be left; by the outbox's own time first, as the rules run. */
const leftBy = ({ history, incidents, outbox }: Rows, before: Bounds): Rows => {
  const isOld = (at: Instant.Instant | undefined, bound: Instant.Instant | undefined) =>
    at !== undefined && bound !== undefined && at < bound
  const resolvedAt = new Map(incidents.map((row) => [row.id, row.resolved_at]))
  const held = new Set(outbox.filter((row) => !ENDED.includes(row.state)).map((row) => row.incident_id))
  const leftOutbox = outbox.filter(
    (row) =>
      held.has(row.incident_id) ||
      !isOld(row.updated_at, before.outbox) ||
      !isOld(resolvedAt.get(row.incident_id), before.outbox),
  )
  return {
    history: history.filter(
      (row, at) =>
        !isOld(row.received_at, before.history) ||
        !history
          .slice(at + 1)
          .some((later) => later.agent_id === row.agent_id && later.check_id === row.check_id),
    ),
    outbox: leftOutbox,
    incidents: incidents.filter((row) => !isOld(row.resolved_at, before.incidents) || held.has(row.id)),
  }
}

const byId = <Row extends { readonly id?: unknown; readonly seq?: unknown }>(rows: ReadonlyArray<Row>) =>
  rows.map((row) => String(row.id ?? row.seq)).toSorted()

/** Claims all due items and settles them. */
const deliverAll = Effect.fnUntraced(function* (
  { commits }: Process,
  outcome: "delivered" | "refused" | "deferred",
) {
  const lease = Duration.seconds(60)
  const claimed = yield* claimItems(commits, { receivers: ["webhook"], limit: 100, lease })
  for (const { claim } of claimed) {
    const result = outcome === "delivered" ? { outcome } : { outcome, error: "no" }
    yield* commits.transact(recordResults([{ claim, result, random: 0 }]))
  }
})

type Step =
  | {
      readonly agent: AgentId
      readonly check: string
      readonly status: CheckStatus
      readonly key: string | undefined
    }
  | { readonly days: number }
  | { readonly outcome: "delivered" | "refused" | "deferred" }

const step = weighted<Step>(
  [
    8,
    Arbitrary.all({
      agent: oneOf(AGENT, OTHER),
      check: oneOf("disk", "load"),
      status: oneOf("ok", "critical", "warning"),
      key: oneOf(undefined, "shared"),
    }),
  ],
  [4, Arbitrary.map(oneOf(1, 20, 100, 400), (days) => ({ days }))],
  [3, Arbitrary.map(oneOf("delivered", "refused", "deferred"), (outcome) => ({ outcome }))],
)

const daysAgo = weighted<number | undefined>(
  [1, Arbitrary.Constant(undefined)],
  [4, oneOf(0, 1, 30, 100, 365)],
)

describe("rows older than their retention", () => {
  it.effect.prop(
    "are removed in pieces of any size, and no others",
    {
      steps: Arbitrary.array(step, { minLength: 10, maxLength: 60 }),
      days: Arbitrary.all({ history: daysAgo, incidents: daysAgo, outbox: daysAgo }),
      limit: oneOf(1, 2, 7, 1_000),
      removesOther: boolean,
    },
    ({ steps, days, limit, removesOther }) =>
      Effect.gen(function* () {
        const { front } = yield* open
        yield* enroll(front, AGENT, OTHER)
        for (const one of steps) {
          if ("days" in one) yield* TestClock.adjust(Duration.days(one.days))
          else if ("outcome" in one) yield* deliverAll(front, one.outcome)
          else yield* report(front, [one], one.agent)
        }
        if (removesOther) yield* front.admission.remove(OTHER)
        const now = yield* Instant.now
        const ago = (count: number | undefined) =>
          count === undefined ? undefined : Instant.minus(now, Duration.days(count))
        const before = {
          history: ago(days.history),
          incidents: ago(days.incidents),
          outbox: ago(days.outbox),
        }
        const rows = yield* everything(front)
        const expected = leftBy(rows, before)
        for (const rule of ["history", "outbox", "incidents"] as const) {
          const bound = before[rule]
          if (bound !== undefined) yield* expireAll(front.storage, { rule, before: bound, limit })
        }
        const left = yield* everything(front)
        assert.deepStrictEqual(byId(left.history), byId(expected.history))
        assert.deepStrictEqual(byId(left.incidents), byId(expected.incidents))
        assert.deepStrictEqual(byId(left.outbox), byId(expected.outbox))
        for (const { id, member_changes } of rows.incidents) {
          const scenario = yield* front.storage.incident(id, atMost(1_000))
          const isKept = expected.incidents.some((incident) => incident.id === id)
          assert.strictEqual(scenario?.changes.length, isKept ? member_changes : undefined)
          if (isKept) assert.isAbove(scenario?.members.length ?? 0, 0)
        }
        // The service continues with the remaining rows.
        yield* report(front, [
          { check: "disk", status: "critical" },
          { check: "load", status: "ok" },
        ])
      }),
    { arbitrary: { runs: propertyRuns(120), size: 60, maxShrinks: 500 } },
  )
})

/** Rows of every kind, all ended, and then a number of days. */
const openWithPast = Effect.fnUntraced(function* (days: number) {
  const { service, front } = yield* open
  yield* enroll(front, AGENT)
  for (const status of ["critical", "ok", "warning", "ok"] as const) {
    yield* report(front, [{ check: "disk", status }])
    yield* deliverAll(front, "delivered")
  }
  yield* TestClock.adjust(Duration.days(days))
  return { service, front }
})

const countsOf = (process: Process) =>
  Effect.map(everything(process), ({ history, incidents, outbox }) => [
    history.length,
    incidents.length,
    outbox.length,
  ])

describe("housekeeping", () => {
  it.effect.each([
    { days: 29, left: [4, 2, 4] },
    { days: 31, left: [4, 2, 0] },
    { days: 92, left: [4, 2, 0] },
    { days: 94, left: [1, 2, 0] },
    { days: 364, left: [1, 2, 0] },
    { days: 366, left: [1, 0, 0] },
  ])(
    "keeps history for 93 days, incidents for 365 and ended outbox items for 30: after $days",
    ({ days, left }) =>
      Effect.gen(function* () {
        const { service, front } = yield* openWithPast(days)
        yield* service.open("keeper", { keepsHouse: true })
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* countsOf(front), left)
      }),
  )

  it.effect("keeps rows without a retention for ever", () =>
    Effect.gen(function* () {
      const { service, front } = yield* openWithPast(10_000)
      yield* heartbeat(front, OTHER)
      yield* TestClock.adjust("10000 days")
      const forever = { history: undefined, incidents: undefined, outbox: undefined, pending: undefined }
      yield* service.open("keeper", { retention: forever })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual((yield* countsOf(front)).slice(0, 1), [4])
      assert.strictEqual((yield* front.queries.agent(OTHER)).admission_state, "pending")
    }),
  )

  it.effect("removes several pieces in one run", () =>
    Effect.gen(function* () {
      const { service, front } = yield* open
      yield* enroll(front, AGENT)
      const statuses = Array.from({ length: 100 }, (_, at): CheckStatus =>
        at % 2 === 0 ? "warning" : "critical",
      )
      for (let batch = 0; batch < 13; batch++) {
        yield* report(
          front,
          statuses.map((status) => ({ check: "disk", status, loud: false })),
        )
      }
      yield* TestClock.adjust("94 days")
      yield* service.open("keeper", { keepsHouse: true })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* countsOf(front), [1, 1, 0])
    }),
  )

  it.effect("removes pending agents after seven days without a heartbeat", () =>
    Effect.gen(function* () {
      const { service, front } = yield* open
      const agents = Array.from({ length: 600 }, (_, at) => AgentId.make(`agent-${at}`))
      yield* enroll(front, AGENT)
      yield* Effect.forEach(agents, (agent) => heartbeat(front, agent))
      yield* TestClock.adjust("6 days")
      yield* heartbeat(front, OTHER)
      yield* TestClock.adjust("23 hours")
      const process = yield* service.open("keeper", { keepsHouse: true })
      yield* settled
      assert.strictEqual((yield* process.storage.agentsWithPendingKey(undefined, 1_000)).length, 601)
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("11 minutes")
      const { items } = yield* front.queries.agents({ limit: 1_000 })
      assert.deepStrictEqual(
        items.map(({ agent_id }) => agent_id),
        [AGENT, OTHER],
      )
      // Their keys are removed with them, so they can register again.
      yield* Effect.forEach(agents.slice(0, 3), (agent) => heartbeat(front, agent))
    }),
  )

  it.effect("removes the rows of deleted agents", () =>
    Effect.gen(function* () {
      const { service, front } = yield* open
      const agents = Array.from({ length: 8 }, (_, at) => AgentId.make(`agent-${at}`))
      yield* enroll(front, ...agents)
      const checks = Array.from({ length: 90 }, (_, at) => ({ check: `check-${at}`, status: "ok" as const }))
      for (const agent of agents) yield* report(front, checks, agent)
      for (const agent of agents) yield* front.admission.remove(agent)
      yield* service.open("keeper", { keepsHouse: true })
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(yield* purge(front.storage, 1), 0)
    }),
  )

  it.effect.each(["isUnreachable", "throws"] as const)(
    "continues after a failure of the storage: %s",
    (fault) =>
      Effect.gen(function* () {
        const { service, front } = yield* open
        const process = yield* service.open("keeper", { keepsHouse: true })
        yield* enroll(front, AGENT)
        process.faults[fault] = true
        yield* TestClock.adjust("90 seconds")
        process.faults[fault] = false
        yield* TestClock.adjust("225 seconds")
        assert.deepStrictEqual(
          Array.from(service.rows().incidents.values(), (incident) => incident.incident_key),
          ["a/@heartbeat"],
        )
        const serviceHeartbeat = yield* front.storage.serviceHeartbeat
        assert.isTrue(
          serviceHeartbeat !== undefined &&
            Instant.plus(serviceHeartbeat.beat_at, Duration.seconds(5)) >= (yield* Instant.now),
        )
      }),
  )

  it.effect("stops with its process", () =>
    Effect.gen(function* () {
      const { service, front } = yield* open
      const process = yield* service.open("keeper", { keepsHouse: true })
      yield* settled
      const serviceHeartbeat = yield* front.storage.serviceHeartbeat
      yield* process.close
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* front.storage.serviceHeartbeat, serviceHeartbeat)
      assert.isDefined(serviceHeartbeat)
    }),
  )
})

describe("the pieces of housekeeping", () => {
  it.effect.prop(
    "are never larger than their limit",
    { limit: integer(1, 5) },
    ({ limit }) =>
      Effect.gen(function* () {
        const { front } = yield* openWithPast(400)
        const before = yield* Instant.now
        let total = 0
        for (const rule of ["history", "outbox", "incidents"] as const) {
          let result = yield* front.storage.expire({ rule, before, after: undefined, limit })
          for (;;) {
            assert.isAtMost(result.removed, limit)
            total += result.removed
            if (!result.isMore) break
            result = yield* front.storage.expire({ rule, before, after: result.after, limit })
          }
        }
        // Results, notifications, and two incidents with a member and two changes each.
        assert.strictEqual(total, 3 + 4 + 2 * 4)
      }),
    { arbitrary: { runs: propertyRuns(10) } },
  )
})
