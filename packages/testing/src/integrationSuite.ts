import { assert, describe, it } from "@effect/vitest"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { IntegrationName } from "@tocsin/contract/integrations/Integrations"
import { CheckId, type EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { applyReports } from "@tocsin/core/features/integrations/applyReports"
import { readRequest } from "@tocsin/core/features/integrations/readRequest"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import type { SenderRequest } from "@tocsin/core/features/integrations/Report"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sha256, sweeps } from "./alertSender.ts"
import { assertSame } from "./assertSame.ts"
import { rowOf } from "./observe.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const CRON = IntegrationName.make("cron")

const created = (replica: Replica, options: IntegrationOptions = {}) =>
  Effect.map(replica.integrations.create({ name: CRON, kind: "ping", options }), ({ key }) =>
    Redacted.make(key),
  )

/** A ping: the path after the key, and parameters. */
const ping = (
  { integrations }: Replica,
  key: Redacted.Redacted,
  path: string,
  given: Partial<SenderRequest> = {},
) =>
  Effect.flatMap(integrations.recognise(key), (sender) =>
    integrations.report("ping", sender, {
      method: "POST",
      path: path.split("/"),
      query: [],
      body: "",
      ...given,
    }),
  )

const outcome = (replica: Replica, key: Redacted.Redacted, path: string) =>
  outcomeOf(Effect.as(ping(replica, key, path), "taken"))

const statusOf = (replica: Replica, check: string) =>
  Effect.map(replica.storage.check(CRON, CheckId.make(check)), (row) => row?.status)

/** Only a change has an ID: no sender knows one, and a repeated report stores no row. */
const namesChanges = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica)
  const seen = Effect.map(replica.storage.check(CRON, CheckId.make("job")), (row) => row?.seen_event_ids)
  const named: Array<ReadonlyArray<EventId | undefined> | undefined> = []
  for (const path of ["job", "job", "job/fail", "job/fail"]) {
    yield* ping(replica, key, path)
    named.push(yield* seen)
    yield* TestClock.adjust("1 second")
  }
  const [second, first] = (yield* rowsOf(replica, "history")).map(({ event_id }) => event_id)
  assert.deepStrictEqual(named, [[first], [], [second], []])
})

const overdueChecks = (replica: Replica) =>
  Effect.map(rowsOf(replica, "overdue"), (rows) => rows.map(({ check_id }) => check_id))

const decidesByKey = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica)
  assert.strictEqual(yield* outcomeOf(Effect.as(created(replica), "created")), "StateConflict")
  yield* ping(replica, key, "backup/fail", { body: "disk full" })
  assert.strictEqual(yield* statusOf(replica, "backup"), "critical")
  yield* TestClock.adjust("1 second")
  yield* ping(replica, key, "backup")
  assert.strictEqual(yield* statusOf(replica, "backup"), "ok")

  const rotated = yield* replica.integrations.rotate(CRON, { grace: Duration.hours(1) })
  const second = Redacted.make(rotated.key)
  assert.deepStrictEqual(
    [yield* outcome(replica, key, "backup"), yield* outcome(replica, second, "backup")],
    ["taken", "taken"],
  )
  yield* TestClock.adjust("1 hour")
  assert.strictEqual(yield* outcome(replica, key, "backup"), "NotFound")

  yield* replica.admission.block(CRON)
  assert.strictEqual(yield* outcome(replica, second, "backup"), "NotFound")
  assert.isUndefined(yield* replica.storage.agent(CRON))
  assert.isTrue((yield* replica.integrations.get(CRON)).is_closed)
  assert.strictEqual(yield* outcomeOf(Effect.as(created(replica), "created")), "StateConflict")

  const opened = Redacted.make((yield* replica.integrations.rotate(CRON, {})).key)
  assert.strictEqual(yield* outcome(replica, opened, "backup"), "taken")
  assert.strictEqual(yield* outcome(replica, second, "backup"), "NotFound")

  yield* replica.admission.remove(CRON)
  assertSame(yield* rowsOf(replica, "integrations"), [])
  assert.strictEqual(yield* outcome(replica, opened, "backup"), "NotFound")
  const last = yield* created(replica)
  assert.strictEqual(yield* outcome(replica, last, "backup"), "taken")
  assert.deepStrictEqual(yield* replica.integrations.remove(CRON), { count: 1 })
  assert.isUndefined(yield* replica.storage.agent(CRON))
  assert.deepStrictEqual(yield* replica.integrations.remove(CRON), { count: 0 })
})

/** A request is read once, also under the key before the last rotation. */
const readsOnce = Effect.fnUntraced(function* (replica: Replica) {
  const { commits, incidents, integrations } = replica
  const former = yield* created(replica)
  const present = Redacted.make((yield* integrations.rotate(CRON, {})).key)
  for (const key of [former, present]) {
    const input = {
      ...(yield* integrations.recognise(key)),
      kind: "ping",
      request: { method: "POST", path: ["backup"], query: [], body: "" },
      start: 0,
      incidents,
      sha256,
      ...defaultRules,
    } as const
    const { known, ...request } = input
    const reading = readRequest(request, known.integration, yield* Instant.now)
    const taken = yield* commits.transact(applyReports({ ...input, reading }))
    assert.strictEqual(taken === "unknown_key" ? taken : taken.reading, reading)
  }
})

const bounds = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica, { max_checks: 2 })
  for (const [path, expected] of [
    ["a", "taken"],
    ["b/start", "taken"],
    ["c", "StateConflict"],
    ["c/start", "StateConflict"],
    ["b", "taken"],
    ["a/fail", "taken"],
  ] as const)
    assert.strictEqual(yield* outcome(replica, key, path), expected, path)
  yield* replica.integrations.change(CRON, { options: { create: false } })
  const changes = Effect.map(
    rowsOf(replica, "audit", { action: "integration.changed" }),
    ({ length }) => length,
  )
  const before = yield* changes
  yield* replica.integrations.change(CRON, { options: { create: false } })
  assert.strictEqual(yield* changes, before)
  assert.strictEqual(yield* outcome(replica, key, "d"), "NotFound")
  assert.strictEqual(yield* outcome(replica, key, "a"), "taken")
})

const measuresRuns = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica)
  const rid = "0195514a-1c40-4a00-8000-000000000001"
  yield* ping(replica, key, "job/start", { query: [["rid", rid]] })
  yield* TestClock.adjust("1 second")
  yield* ping(replica, key, "job/start")
  yield* ping(replica, key, "job/log", { body: "copied 3 files" })
  yield* TestClock.adjust("2 seconds")
  yield* ping(replica, key, "job", { query: [["rid", rid]], body: "done" })
  yield* TestClock.adjust("4 seconds")
  yield* ping(replica, key, "job/1")
  const shown = (yield* rowsOf(replica, "history")).map(({ duration_ms, output }) => [duration_ms, output])
  assert.deepStrictEqual(shown, [
    [6_000, "exit status 1"],
    [3_000, "copied 3 files\ndone"],
  ])
  assertSame(
    yield* rowOf(replica, "expectation", {
      agent_id: CRON,
      check_id: CheckId.make("job"),
      registration_id: (yield* replica.storage.agent(CRON))?.registration_id ?? assert.fail("no agent"),
    }),
    undefined,
  )
})

const expectsRuns = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica)
  yield* ping(replica, key, "job/start")
  yield* ping(replica, key, "daily", {
    query: [
      ["every", "10m"],
      ["severity", "critical"],
    ],
  })
  const sent = (path: string, every: string) =>
    outcomeOf(Effect.as(ping(replica, key, path, { query: [["every", every]] }), "taken"))
  assert.strictEqual(yield* sent("fresh/0", "soon"), "ValidationError")
  assert.isUndefined(yield* statusOf(replica, "fresh"))
  for (const check of ["fresh", "daily", "daily"]) {
    assert.strictEqual(yield* sent(`${check}/fail`, "1s"), "ValidationError")
    assert.strictEqual(yield* statusOf(replica, check), "critical")
  }
  // The service is alive all the while, and so is the agent of the integration.
  for (let minute = 0; minute < 59; minute++) {
    yield* TestClock.adjust("1 minute")
    yield* sweeps(replica, CRON)
  }
  assert.deepStrictEqual(yield* overdueChecks(replica), [CheckId.make("daily")])
  yield* TestClock.adjust("70 seconds")
  yield* sweeps(replica, CRON)
  assert.deepStrictEqual(yield* overdueChecks(replica), [CheckId.make("daily"), CheckId.make("job")])
  yield* ping(replica, key, "job")
  assert.deepStrictEqual(yield* overdueChecks(replica), [CheckId.make("daily")])
})

/** A check of an integration does not wait for the next contact of its agent. */
const findsSoon = Effect.fnUntraced(function* (replica: Replica) {
  const key = yield* created(replica)
  yield* ping(replica, key, "daily", {
    query: [
      ["every", "1m"],
      ["after", "185s"],
    ],
  })
  for (let seconds = 0; seconds < 200; seconds += 10) {
    if (seconds <= 180) assert.deepStrictEqual(yield* overdueChecks(replica), [])
    yield* TestClock.adjust("10 seconds")
    yield* sweeps(replica, CRON)
  }
  assert.deepStrictEqual(yield* overdueChecks(replica), [CheckId.make("daily")])
})

/** Integrations: rows, keys and the reports of senders (docs/rules.md#integrations). */
export const integrationSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("integrations", () => {
    it.effect("take reports under a key that is valid, and no other", () =>
      Effect.flatMap(openReplica(subject), decidesByKey),
    )
    it.effect("read each request once, also under a former key", () =>
      Effect.flatMap(openReplica(subject), readsOnce),
    )
    it.effect("have as many checks as they may, those that have only begun included", () =>
      Effect.flatMap(openReplica(subject), bounds),
    )
    it.effect("measure runs from their starts, and keep logs for results", () =>
      Effect.flatMap(openReplica(subject), measuresRuns),
    )
    it.effect("give an ID to a change, and none to a report that repeats it", () =>
      Effect.flatMap(openReplica(subject), namesChanges),
    )
    it.effect("show a check that is late within 15 s", () => Effect.flatMap(openReplica(subject), findsSoon))
    it.effect("expect what their senders declare, and the end of each run", () =>
      Effect.flatMap(openReplica(subject), expectsRuns),
    )
  })
}
