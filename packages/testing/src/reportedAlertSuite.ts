import { assert, describe, it } from "@effect/vitest"
import { IntegrationName } from "@tocsin/contract/integrations/Integrations"
import * as Instant from "@tocsin/contract/formats/Instant"
import { evaluationAfter } from "@tocsin/core/heart/overdue/dueTime"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { NAME, open, passes, sends, shown, sweeps } from "./alertSender.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { resolvesByHand } from "./resolvesByHand.ts"
import { rowsOf } from "./rowsOf.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const RUNS = 20

const FIVE_MINUTES = 300
const LEASE = 240

const takesAlerts = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica, { group_by: ["team"] })
  yield* sends(site, "a:9090", ["Load", "Disk"], LEASE)
  assert.deepStrictEqual(yield* shown(site), { Load: "critical", Disk: "critical" })
  const [incident, ...others] = yield* rowsOf(replica, "incidents")
  assert.strictEqual(incident?.incident_key, 'prometheus{team="db"}')
  assert.deepStrictEqual(others, [])
  const [check = assert.fail("no check")] = yield* rowsOf(replica, "checks")
  const [row] = yield* replica.storage.rows("check_label", [check])
  assert.strictEqual(row?.labels?.["team"], "db")
  // Its own look finds that it is late: only that knows whether its source is silent.
  const [[expected], [alert]] = yield* Effect.all([
    replica.storage.rows("expectation", [check]),
    replica.storage.rows("reported_alert", [check]),
  ])
  assert.strictEqual(expected?.next_evaluation_at, undefined)
  const due = Instant.plus(yield* Instant.now, Duration.seconds(LEASE))
  assert.strictEqual(alert?.next_evaluation_at, evaluationAfter(due))
  yield* TestClock.adjust("1 minute")
  yield* sends(site, "a:9090", ["Load", "Disk"], LEASE)
  yield* sends(site, "a:9090", ["Load", "Disk", "Unknown"], undefined)
  assert.deepStrictEqual(yield* shown(site), { Load: "ok", Disk: "ok" })
  assert.strictEqual((yield* rowsOf(replica, "history")).length, 4)
  yield* passes(site, 24 * 3_600 - 60, 600)
  assert.deepStrictEqual(yield* shown(site), { Load: "ok", Disk: "ok" })
  yield* passes(site, 120)
  assert.deepStrictEqual(yield* shown(site), {})
  assert.strictEqual((yield* rowsOf(replica, "incidents")).length, 1)
})

/** Alerts that nothing repeats: they end by the declaration by which they fired. */
const forgetsWithoutRepeats = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica, { repeats: false, forget_after: "1h", max_checks: 5 })
  yield* sends(site, "a:9090", ["Early", "Late", "Firing", "Again"], LEASE)
  assert.strictEqual((yield* replica.integrations.nearlyFull).length, 1)
  yield* passes(site, 600)
  yield* sends(site, "a:9090", ["Early", "Again"], undefined)
  yield* passes(site, 3_000, 600)
  yield* sends(site, "a:9090", ["Again"], undefined)
  yield* passes(site, 660)
  assert.deepStrictEqual(yield* shown(site), { Late: "critical", Firing: "critical", Again: "ok" })
  assert.deepStrictEqual(yield* replica.integrations.nearlyFull, [])
  // Long after it fired.
  yield* passes(site, 3 * 3_600, 600)
  yield* sends(site, "a:9090", ["Late"], undefined)
  assert.deepStrictEqual(yield* shown(site), { Late: "ok", Firing: "critical" })
  yield* passes(site, 3_540, 60)
  assert.deepStrictEqual(yield* shown(site), { Late: "ok", Firing: "critical" })
  yield* passes(site, 120)
  assert.deepStrictEqual(yield* shown(site), { Firing: "critical" })
  const { key } = yield* replica.integrations.create({
    name: IntegrationName.make("hooks"),
    kind: "webhook",
    options: { map: { check: "/c", status: "/s" }, forget_after: "1h" },
  })
  const sender = yield* replica.integrations.recognise(Redacted.make(key))
  for (const s of ["critical", "ok"]) {
    const body = JSON.stringify({ c: "job", s })
    yield* replica.integrations.report("webhook", sender, { method: "POST", path: [], query: [], body })
  }
  const ofHooks = Effect.map(
    rowsOf(replica, "checks"),
    (rows) => rows.filter(({ agent_id }) => agent_id !== NAME).length,
  )
  assert.strictEqual(yield* ofHooks, 1)
  yield* TestClock.adjust("61 minutes")
  yield* sweeps(replica, IntegrationName.make("hooks"))
  assert.strictEqual(yield* ofHooks, 0)
})

const keepsWhatWasHeard = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica)
  yield* sends(site, "a:9090", ["Load"], LEASE)
  yield* sends(site, "b:9090", ["Disk"], LEASE)
  // One source is silent, the other goes on without its alert.
  for (let minute = 0; minute < 25; minute++) {
    yield* passes(site, 60)
    yield* sends(site, "b:9090", ["Other"], LEASE)
  }
  assert.deepStrictEqual(yield* shown(site), {
    Load: "critical as last heard",
    Disk: "lapsed",
    Other: "critical",
  })
  const overdue = (yield* rowsOf(replica, "incidents")).filter(({ incident_key }) =>
    incident_key.endsWith("/@overdue"),
  )
  assert.deepStrictEqual(
    overdue.map(({ state }) => state),
    ["open"],
  )
  // It is back, without the alert.
  for (let minute = 0; minute < 13; minute++) {
    yield* sends(site, "a:9090", ["Back"], LEASE)
    yield* passes(site, 60)
  }
  assert.strictEqual((yield* shown(site))["Load"], "critical as last heard")
  for (let minute = 0; minute < 5; minute++) {
    yield* sends(site, "a:9090", ["Back"], LEASE)
    yield* passes(site, 60)
  }
  assert.strictEqual((yield* shown(site))["Load"], "lapsed")
})

const watches = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica, { watchdog: "Watchdog" })
  const overdue = Effect.map(rowsOf(replica, "overdue"), (rows) => rows.map(({ check_id }) => check_id))
  const awaited = Effect.map(replica.integrations.get(NAME), ({ awaited_watchdog }) => awaited_watchdog)
  yield* passes(site, FIVE_MINUTES + 30)
  yield* sends(site, "a:9090", ["Load"], undefined)
  assert.deepStrictEqual([yield* overdue, yield* awaited], [[], "Watchdog"])
  // Another one is expected from its own first report on.
  yield* replica.integrations.change(NAME, { options: { watchdog: "Other" } })
  yield* passes(site, FIVE_MINUTES + 30)
  assert.deepStrictEqual([yield* overdue, yield* awaited], [[], "Other"])
  yield* replica.integrations.change(NAME, { options: { watchdog: "Watchdog" } })
  yield* sends(site, "a:9090", ["Watchdog"], LEASE)
  assert.deepStrictEqual([yield* overdue, yield* awaited], [[], null])
  yield* replica.integrations.change(NAME, { options: { watchdog: "Watchdog", resend: "20m" } })
  yield* passes(site, 2 * FIVE_MINUTES)
  assert.deepStrictEqual(yield* overdue, [])
  yield* replica.integrations.change(NAME, { options: { watchdog: "Watchdog" } })
  const [row] = yield* rowsOf(replica, "checks")
  assert.deepStrictEqual([row?.check_id, row?.status], ["Watchdog", "ok"])
  yield* passes(site, FIVE_MINUTES + 30)
  assert.deepStrictEqual(yield* overdue, ["Watchdog"])
  const [incident] = yield* rowsOf(replica, "incidents")
  assert.match(incident?.summary ?? "", /^late: Watchdog: nothing since [\d-]{10} [\d:]{8} UTC, expected by /)
  yield* replica.integrations.change(NAME, { options: {} })
  assert.deepStrictEqual(yield* overdue, [])
})

const bounds = Effect.fnUntraced(function* (replica: Replica) {
  const site = yield* open(replica, { max_checks: 205 })
  const names = Array.from({ length: 210 }, (_, index) => `Alert${index}`)
  assert.strictEqual(
    yield* outcomeOf(Effect.as(sends(site, "a:9090", names, LEASE), "taken")),
    "StateConflict",
  )
  assert.strictEqual(Object.keys(yield* shown(site)).length, 205)
  assert.strictEqual(
    yield* outcomeOf(Effect.as(sends(site, "a:9090", names.slice(0, 205), undefined), "taken")),
    "taken",
  )
  // Options count from the next request on.
  yield* replica.integrations.change(NAME, { options: { severity: { ignore: [""] } } })
  yield* sends(site, "a:9090", names.slice(0, 1), LEASE)
  assert.strictEqual((yield* shown(site))["Alert0"], "ok")
  yield* replica.integrations.change(NAME, { options: {} })
  yield* sends(site, "a:9090", names.slice(0, 1), LEASE)
  assert.strictEqual((yield* shown(site))["Alert0"], "critical")
  const refused = outcomeOf(replica.integrations.change(NAME, { options: { methods: ["POST"] } }))
  assert.strictEqual(yield* refused, "ValidationError")
})

const RESEND = 60
const SOURCES = ["a:9090", "b:9090"] as const
const ALERTS = ["One", "Two"] as const

interface Step {
  readonly seconds: number
  readonly source: (typeof SOURCES)[number] | undefined
  readonly firing: ReadonlyArray<string>
  readonly ended: ReadonlyArray<string>
}

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.record({
    seconds: fc.constantFrom(20, 30, 50, 70, 200),
    source: fc.option(fc.constantFrom(...SOURCES), { nil: undefined, freq: 4 }),
    firing: fc.subarray([...ALERTS]),
    ended: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.subarray([...ALERTS]) },
    ),
  }),
  { minLength: 20, maxLength: 60 },
)

/** An alert that fires, as a model has it: when it was last heard, and from where. */
interface Heard {
  readonly at: number
  readonly source: string
}

/** For how long, before a moment, a source was heard without a gap of more than a period. */
const heardFor = (times: ReadonlyArray<number>, now: number): number => {
  let since = now
  for (const at of times.toReversed()) {
    if (since - at > RESEND + 10) break
    since = at
  }
  return now - since
}

/**
 * Plays random senders. An alert ends only when a sender says so, or after its source was heard in three
 * periods without it, and then soon; it is as last heard only while its source is silent.
 */
const followsModel = (replica: Replica) =>
  forAll(steps, { runs: RUNS }, (story) =>
    Effect.gen(function* () {
      yield* replica.integrations.remove(NAME)
      const site = yield* open(replica, { resend: "60s", severity: { ignore: [] } })
      const heard = new Map<string, Array<number>>()
      const firing = new Map<string, Heard>()
      const known = new Set<string>()
      let now = 0
      for (const { ended, firing: sent, seconds, source } of story) {
        yield* passes(site, seconds)
        now += seconds
        const found = yield* shown(site)
        for (const [name, last] of firing) {
          const quiet = now - last.at
          const times = heard.get(last.source) ?? []
          const lastHeard = Math.max(...times, 0)
          /** For how long, at a moment, its source was heard while it was due. */
          const withoutAt = (moment: number) =>
            Math.min(heardFor(times, moment), moment - last.at - LEASE - 60)
          const without = withoutAt(now)
          if (found[name] === "lapsed") {
            // It may have lapsed within the step, before its source fell silent.
            const most = Math.max(without, withoutAt(Math.min(now, lastHeard + RESEND + 10)))
            assert.isAtLeast(most, 3 * RESEND, `${name} lapsed`)
            firing.delete(name)
            continue
          }
          assert.match(String(found[name]), /^critical/, name)
          assert.isAtMost(without, 3 * RESEND + RESEND + 60, `${name} has not lapsed`)
          const silence = now - lastHeard
          const isAsHeard = found[name] !== "critical"
          if (isAsHeard) assert.isAtLeast(quiet, LEASE, `${name} is as last heard`)
          if (quiet < LEASE) assert.isFalse(isAsHeard, name)
          if (silence > LEASE + RESEND + 60) assert.isTrue(isAsHeard, `${name} is as last heard`)
        }
        for (const name of known) if (!firing.has(name)) assert.match(String(found[name]), /^(?:ok|lapsed)$/)
        if (source === undefined) continue
        const names = sent.filter((name) => !ended.includes(name))
        yield* sends(site, source, names, LEASE)
        yield* sends(site, source, ended, undefined)
        yield* sends(site, source, ["Always"], LEASE)
        heard.set(source, [...(heard.get(source) ?? []), now])
        for (const name of names) {
          firing.set(name, { at: now, source })
          known.add(name)
        }
        for (const name of ended) firing.delete(name)
      }
    }),
  )

/** Alerts that integrations take (docs/rules.md#alerts). */
export const reportedAlertSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("reported alerts", () => {
    it.effect("are checks, which join incidents, end and are forgotten", () =>
      Effect.flatMap(openReplica(subject), takesAlerts),
    )
    it.effect("are forgotten in time, also where nothing repeats them", () =>
      Effect.flatMap(openReplica(subject), forgetsWithoutRepeats),
    )
    it.effect("stay as last heard while their source is silent, and lapse when it is not", () =>
      Effect.flatMap(openReplica(subject), keepsWhatWasHeard),
    )
    it.effect("end by an operator's result, until they are reported again", () =>
      Effect.flatMap(openReplica(subject), resolvesByHand),
    )
    it.effect("are missed if one always fires, from its first report on", () =>
      Effect.flatMap(openReplica(subject), watches),
    )
    it.effect("are taken in parts, as many as there may be, by the present options", () =>
      Effect.flatMap(openReplica(subject), bounds),
    )
    it.effect(
      "never end because their source went silent",
      () => Effect.flatMap(openReplica(subject), followsModel),
      PROPERTY_TIMEOUT_MILLIS,
    )
  })
}
