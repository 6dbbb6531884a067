import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { eventId, heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import type { Process, Service } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { openIncidents, openTimeline, type Timeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** Declares checks of an agent, as a request's body names them. */
const declare = (
  { ingest }: Pick<Process, "ingest">,
  checks: ReadonlyArray<object>,
  { agent = AGENT, complete = false } = {},
) => {
  const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete }))
  return Effect.orDie(ingest.expectations(keyOf(agent), { agent_id: agent, request })).pipe(
    Effect.tap(settled),
  )
}

const expectationOf = (service: Service) => service.rows().expectations.get("a/disk")

/** The agent `a`, and so many processes that look for overdue checks. */
const open = Effect.fnUntraced(function* (processes = 1) {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { after, front, service } = timeline
  for (let number = 2; number <= processes; number++) {
    yield* service.open(`process ${number}`, { keepsHouse: true })
  }
  yield* settled
  /** Lets time pass in which an agent sends heartbeats, one a minute. */
  const alive = Effect.fnUntraced(function* (minutes: number, id = AGENT) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* after("1 minute")
      yield* timeline.agent(id).heartbeats
    }
  })
  const shown = (is_overdue = false) =>
    Effect.map(
      Effect.orDie(front.operations.expectedChecks({ is_overdue, limit: 100 })),
      ({ items }) => items,
    )
  return { ...timeline, alive, shown }
})

const EACH_MINUTE = { check_id: "disk", every: "1m" }

const test = testsFrom(open(), it.effect)

describe("a declared check that stops reporting", () => {
  test("joins its agent's incident within 15 seconds of its due time", function* (opened) {
    const { after, alive, disk, front, incidents, shown, webhook } = opened
    yield* disk.turns("ok")
    assert.deepStrictEqual(yield* declare(front, [EACH_MINUTE]), { expected: 1, withdrawn: 0 })
    yield* alive(2)
    yield* after("59 seconds")
    yield* incidents.areOpen()
    yield* alive(1)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@overdue")
    const [incident] = yield* openIncidents(front)
    assert(incident !== undefined)
    assert.strictEqual(incident.severity, "unknown")
    assert.strictEqual(incident.check_id, CheckId.make("disk"))
    assert.match(
      incident.summary ?? "",
      /^late: disk: nothing since [\d-]{10} [\d:]{8} UTC, expected by [\d-]{10} [\d:]{8} UTC$/,
    )
    yield* webhook.has("firing unknown a/@overdue")
    const [check] = yield* shown(true)
    assert.deepInclude(check, { state: "late", late_severity: "unknown", status: "ok" })
  })

  test("is found by its status and words, on the first page if it is the last of them", function* (opened) {
    const { alive, disk, front } = opened
    yield* disk.turns("ok")
    yield* declare(front, [
      { check_id: "a-backup", every: "1m" },
      { check_id: "b-backup", every: "1m" },
      EACH_MINUTE,
    ])
    yield* alive(4)
    const found = (filter: object) =>
      Effect.map(
        front.operations.expectedChecks({ is_overdue: true, limit: 1, ...filter }),
        ({ items, next_cursor }) => [...items.map(({ check_id }) => check_id), next_cursor],
      )
    assert.deepStrictEqual(yield* found({ status: "ok" }), ["disk", null])
    assert.deepStrictEqual(yield* found({ search: "B-BACK" }), ["b-backup", null])
    assert.deepStrictEqual(yield* found({ search: "backup", status: "ok" }), [null])
    assert.deepStrictEqual(yield* found({ search: "a/d", status: "ok" }), ["disk", null])
    assert.strictEqual((yield* found({ status: "not_ok" }))[0], "a-backup")
  })

  test("leaves it with its next result, whatever that says, and is expected again", function* (opened) {
    const { alive, disk, front, incidents, shown, webhook } = opened
    yield* declare(front, [EACH_MINUTE])
    yield* alive(4)
    yield* incidents.areOpen("a/@overdue")
    yield* disk.turns("critical")
    yield* incidents.areOpen("a/disk")
    assert.deepInclude((yield* shown())[0], {
      state: "critical",
      late_severity: "unknown",
      status: "critical",
    })
    yield* alive(4)
    yield* incidents.areOpen("a/disk", "a/@overdue")
    yield* webhook.has(
      "firing unknown a/@overdue",
      "firing critical a/disk",
      "resolved unknown a/@overdue",
      "firing unknown a/@overdue",
    )
  })

  test("joins the same incident as others of its agent, with the worst severity", function* (opened) {
    const { alive, agent, front, incidents } = opened
    yield* declare(front, [EACH_MINUTE, { check_id: "backup", every: "2m", severity: "critical" }])
    yield* alive(4)
    assert.strictEqual((yield* openIncidents(front))[0]?.severity, "unknown")
    yield* alive(4)
    const [incident, ...others] = yield* openIncidents(front)
    assert.strictEqual(incident?.severity, "critical")
    assert.isEmpty(others)
    assert.notProperty(incident, "check_id")
    yield* agent().reports({ check: "backup", status: "ok" })
    assert.strictEqual((yield* openIncidents(front))[0]?.severity, "unknown")
    yield* agent().reports({ check: "disk", status: "ok" })
    yield* incidents.areOpen()
  })

  test("is not overdue while unchanged results arrive, which write no expectation", function* (opened) {
    const { after, disk, front, incidents, service } = opened
    yield* disk.turns("ok")
    yield* declare(front, [EACH_MINUTE])
    let rewritten = 0
    let expectation = expectationOf(service)
    for (let minute = 0; minute < 30; minute++) {
      const before = expectationOf(service)
      yield* disk.turns("ok")
      assert.strictEqual(expectationOf(service), before)
      yield* after("1 minute")
      const now = expectationOf(service)
      if (now !== expectation) rewritten += 1
      expectation = now
    }
    yield* incidents.areOpen()
    // 30 minutes are ten times `after`.
    assert.isAtMost(rewritten, 10)
    assert.isAbove(rewritten, 5)
  })

  test("is reported once when its host is dead: by the heartbeat incident", function* (opened) {
    const { after, alive, agent, disk, front, incidents } = opened
    yield* declare(front, [EACH_MINUTE])
    yield* disk.turns("ok")
    yield* after("1 hour")
    yield* incidents.areOpen("a/@heartbeat")
    yield* agent().heartbeats
    yield* incidents.areOpen()
    yield* alive(2)
    yield* after("55 seconds")
    yield* incidents.areOpen()
    yield* after("20 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("gets its whole time after an outage of the service", function* (opened) {
    const { after, agent, disk, front, incidents, isDownFor } = opened
    yield* declare(front, [{ check_id: "disk", every: "2m", after: "6m" }])
    yield* disk.turns("ok")
    yield* isDownFor("10 minutes")
    yield* agent().heartbeats
    yield* after("1 minute")
    yield* incidents.areOpen()
    for (let minute = 0; minute < 4; minute++) {
      yield* agent().heartbeats
      yield* after("1 minute")
    }
    yield* incidents.areOpen()
    yield* agent().heartbeats
    yield* after("75 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("stays overdue when a late or a known result arrives", function* (opened) {
    const { after, alive, disk, front, incidents, service } = opened
    yield* disk.turns("critical")
    yield* after("1 second")
    yield* disk.turns("ok")
    yield* declare(front, [EACH_MINUTE])
    yield* alive(4)
    const [first, result] = service.rows().history
    assert(first !== undefined && result !== undefined)
    const { agent_id, received_at: _received, registration_id: _registration, ...event } = result
    // Its check no longer has its ID, the history has.
    const { event_id, status, exit_code } = first
    const known = { ...event, event_id, status, exit_code, observed_at: yield* Instant.now }
    const late = {
      ...event,
      event_id: eventId(1),
      observed_at: Instant.minus(event.observed_at, Duration.hours(1)),
    }
    yield* Effect.orDie(front.ingest.events(keyOf(AGENT), { agent_id, events: [event, known, late] }))
    yield* incidents.areOpen("a/@overdue")
  })

  test("notifies nobody if its declaration says so", function* ({ alive, disk, front, incidents, webhook }) {
    yield* declare(front, [{ ...EACH_MINUTE, notifications_enabled: false }])
    yield* alive(4)
    yield* incidents.areOpen("a/@overdue")
    yield* disk.turns("ok")
    yield* incidents.areOpen()
    yield* webhook.has()
  })
})

describe("an incident of overdue checks whose last one is declared silent", () => {
  const endings = {
    "reports again": ({ disk }: Timeline) => disk.turns("ok"),
    "is withdrawn": ({ front }: Timeline) => declare(front, [], { complete: true }),
  }

  it.effect.each(Object.entries(endings))("notifies of no end when that %s", ([, ends]) =>
    Effect.gen(function* () {
      const opened = yield* open()
      const silent = { ...EACH_MINUTE, notifications_enabled: false }
      yield* declare(opened.front, [silent, { check_id: "backup", every: "1m" }])
      yield* opened.alive(4)
      yield* opened.agent().reports({ check: "backup", status: "ok" })
      yield* declare(opened.front, [silent], { complete: true })
      yield* opened.incidents.areOpen("a/@overdue")
      yield* ends(opened)
      yield* opened.incidents.areOpen()
      yield* opened.webhook.has("firing unknown a/@overdue")
    }),
  )
})

describe("an overdue check leaves its incident when", () => {
  const overdue = Effect.gen(function* () {
    const opened = yield* open()
    yield* opened.disk.turns("ok")
    yield* declare(opened.front, [EACH_MINUTE])
    yield* opened.alive(4)
    yield* opened.incidents.areOpen("a/@overdue")
    return opened
  })

  it.effect("its agent withdraws it", () =>
    Effect.gen(function* () {
      const { front, incidents, shown, webhook } = yield* overdue
      assert.deepStrictEqual(yield* declare(front, [], { complete: true }), { expected: 0, withdrawn: 1 })
      yield* incidents.areOpen()
      yield* webhook.has("firing unknown a/@overdue", "resolved unknown a/@overdue")
      assert.deepInclude((yield* shown())[0], { is_overdue: false, expected_at: null })
    }),
  )

  it.effect("the check is deleted, and its declaration with it", () =>
    Effect.gen(function* () {
      const { alive, front, incidents, service } = yield* overdue
      yield* Effect.orDie(front.operations.removeCheck({ agent_id: AGENT, check_id: CheckId.make("disk") }))
      yield* incidents.areOpen()
      assert.strictEqual(service.rows().expectations.size, 0)
      yield* alive(5)
      yield* incidents.areOpen()
    }),
  )

  it.effect("its agent is deleted", () =>
    Effect.gen(function* () {
      const { after, agent, incidents, service } = yield* overdue
      yield* agent().isDeleted
      yield* incidents.areOpen()
      yield* after("1 minute")
      assert.strictEqual(service.rows().expectations.size, 0)
    }),
  )
})

describe("a declaration", () => {
  test("that is equal changes nothing; one without complete leaves the others", function* (opened) {
    const { alive, front, incidents, service } = opened
    yield* declare(front, [EACH_MINUTE])
    yield* alive(2)
    const before = service.rows().expectations
    assert.deepStrictEqual(yield* declare(front, [{ ...EACH_MINUTE, after: "180s" }]), {
      expected: 1,
      withdrawn: 0,
    })
    assert.deepStrictEqual(service.rows().expectations, before)
    const another = [{ check_id: "backup", cron: "0 3 * * *", tz: "Europe/Berlin" }]
    assert.deepStrictEqual(yield* declare(front, another), { expected: 2, withdrawn: 0 })
    yield* alive(2)
    yield* incidents.areOpen("a/@overdue")
  })

  test("of other terms counts from now, and leaves an overdue check so, with its severity", function* ({
    alive,
    disk,
    front,
    incidents,
    service,
  }) {
    yield* declare(front, [EACH_MINUTE])
    yield* alive(2)
    yield* declare(front, [{ ...EACH_MINUTE, severity: "warning" }])
    yield* alive(2)
    yield* incidents.areOpen()
    yield* alive(2)
    assert.strictEqual((yield* openIncidents(front))[0]?.severity, "warning")
    const before = service.rows().incidents
    yield* declare(front, [{ check_id: "disk", every: "2m", severity: "warning" }])
    assert.deepStrictEqual(service.rows().incidents, before)
    yield* declare(front, [{ ...EACH_MINUTE, severity: "critical" }])
    assert.strictEqual((yield* openIncidents(front))[0]?.severity, "critical")
    yield* disk.turns("ok")
    yield* incidents.areOpen()
  })

  it.effect.each([
    ["blocked", "AgentBlocked"],
    ["pending", "AgentNotAccepted"],
  ] as const)("of a %s key is refused: %s", ([standing, tag]) =>
    Effect.gen(function* () {
      const { agent, front, service } = yield* open()
      const other = AgentId.make("b")
      yield* agent(other).heartbeats
      if (standing === "blocked") yield* Effect.orDie(front.admission.block(other))
      const request = Result.getOrThrow(decodeExpectationsRequest({ checks: [EACH_MINUTE] }))
      const error = yield* Effect.flip(front.ingest.expectations(keyOf(other), { agent_id: other, request }))
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(service.rows().expectations.size, 0)
    }),
  )
})

describe("several processes", () => {
  it.effect("open one incident, and a restart changes nothing", () =>
    Effect.gen(function* () {
      const { after, agent, disk, front, incidents, isDownFor, service, webhook } = yield* open(3)
      yield* disk.turns("ok")
      yield* declare(front, [EACH_MINUTE])
      for (const pause of [
        "70 seconds",
        "30 seconds",
        "70 seconds",
      ] satisfies ReadonlyArray<Duration.Input>) {
        yield* isDownFor(pause)
        yield* agent().heartbeats
      }
      yield* after("12 seconds")
      yield* incidents.areOpen()
      yield* agent().heartbeats
      yield* after("15 seconds")
      yield* incidents.areOpen("a/@overdue")
      yield* isDownFor("30 seconds")
      yield* after("1 minute")
      assert.strictEqual(service.rows().incidents.size, 1)
      yield* webhook.has("firing unknown a/@overdue")
    }),
  )
})

describe("a rule of the policy", () => {
  const policyOf = (...freshness: ReadonlyArray<object>) =>
    compilePolicy(Result.getOrThrow(readPolicy({ freshness }, ["webhook"])), ["webhook"])
  const disks = { match: ["check_id glob disk*"], every: "1m", severity: "warning" }

  test("expects a check from its first result on, unless its agent declares it", function* (opened) {
    const { agent, alive, disk, front, incidents, shown, webhook } = opened
    yield* front.policy.replace(policyOf(disks, { match: ["check_id = cpu"], every: "1h" }))
    yield* alive(5)
    yield* incidents.areOpen()
    yield* disk.turns("ok")
    yield* agent().reports({ check: "disk2", status: "ok" }, { check: "cpu", status: "ok" })
    assert.isTrue((yield* shown()).every(({ expected_at }) => expected_at !== null))
    yield* declare(front, [{ check_id: "disk", every: "1h" }])
    yield* alive(4)
    const [incident] = yield* openIncidents(front)
    assert.deepInclude(incident, { check_id: CheckId.make("disk2"), severity: "warning" })
    yield* agent().reports({ check: "disk2", status: "ok" })
    yield* webhook.has("firing warning a/@overdue", "resolved warning a/@overdue")
  })

  test("that no longer matches after a reload expects nothing; the first that matches counts", function* ({
    after,
    alive,
    disk,
    front,
    incidents,
    service,
    shown,
  }) {
    yield* disk.turns("ok")
    const named = { match: ["check_id = disk"], every: "1h" }
    yield* front.policy.replace(policyOf(disks, named))
    yield* after("10 seconds")
    assert.strictEqual(expectationOf(service)?.terms?.every_millis, 60_000)
    yield* alive(4)
    yield* incidents.areOpen("a/@overdue")
    yield* front.policy.replace(policyOf(named))
    yield* after("10 seconds")
    assert.strictEqual(expectationOf(service)?.terms?.every_millis, 3_600_000)
    yield* front.policy.replace(policyOf())
    yield* after("10 seconds")
    yield* incidents.areOpen()
    assert.strictEqual(service.rows().expectations.size, 0)
    assert.isNull((yield* shown())[0]?.expected_at)
  })

  test("that changes the incident alone changes it for checks that have reported", function* (opened) {
    const { after, alive, disk, front, incidents, service } = opened
    yield* front.policy.replace(policyOf(disks))
    yield* disk.turns("ok")
    yield* after("10 seconds")
    yield* front.policy.replace(policyOf({ ...disks, incident: "own" }))
    yield* after("10 seconds")
    // Before it is late: whether others are cut off depends on it, and whether a matcher means any check.
    assert.strictEqual(expectationOf(service)?.terms?.incident, "own")
    yield* alive(5)
    yield* incidents.areOpen("a/disk/@overdue")
  })

  test("that goes with all others leaves no check expected, although none is overdue", function* (opened) {
    const { after, disk, front, service } = opened
    yield* front.policy.replace(policyOf(disks))
    yield* disk.turns("ok")
    yield* after("10 seconds")
    assert.strictEqual(expectationOf(service)?.origin, "policy")
    yield* front.policy.replace(policyOf())
    yield* after("10 seconds")
    assert.isUndefined(expectationOf(service))
  })

  test("that an agent declares too leaves the check expected when it goes", function* (opened) {
    const { after, disk, front, service } = opened
    yield* front.policy.replace(policyOf({ match: ["check_id = disk"], every: "1m" }))
    yield* disk.turns("ok")
    assert.strictEqual(expectationOf(service)?.origin, "policy")
    yield* declare(front, [EACH_MINUTE])
    yield* front.policy.replace(policyOf())
    yield* after("10 seconds")
    assert.strictEqual(expectationOf(service)?.origin, "agent")
  })

  test("takes over when a declaration is withdrawn", function* ({ disk, front, service }) {
    yield* front.policy.replace(policyOf(disks))
    yield* disk.turns("ok")
    yield* declare(front, [{ check_id: "disk", every: "1h" }])
    assert.strictEqual(expectationOf(service)?.origin, "agent")
    assert.deepStrictEqual(yield* declare(front, [], { complete: true }), { expected: 1, withdrawn: 1 })
    assert.strictEqual(expectationOf(service)?.origin, "policy")
    assert.deepStrictEqual(yield* declare(front, [], { complete: true }), { expected: 1, withdrawn: 0 })
  })

  test("follows the labels of the agent within minutes", function* ({ after, disk, front, service }) {
    yield* front.policy.replace(policyOf({ match: ["label:env = prod"], every: "5m" }))
    yield* disk.turns("ok")
    assert.isUndefined(expectationOf(service))
    yield* after("10 seconds")
    const heartbeat = heartbeatOf("a", { observed_at: yield* Instant.now, labels: { env: "prod" } })
    yield* Effect.orDie(front.ingest.heartbeat(keyOf(AGENT), heartbeat))
    yield* after("6 minutes")
    assert.strictEqual(expectationOf(service)?.origin, "policy")
  })

  test("of a policy that ended with the process leaves no check overdue", function* (opened) {
    const { after, alive, disk, front, incidents, isDownFor } = opened
    yield* front.policy.replace(policyOf(disks))
    yield* disk.turns("ok")
    yield* alive(4)
    yield* incidents.areOpen("a/@overdue")
    // The new process begins with the policy of the settings, which has no rules.
    yield* isDownFor("10 seconds")
    yield* after("10 seconds")
    yield* incidents.areOpen()
  })
})
