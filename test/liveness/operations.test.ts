import { AgentId, CheckId, EventId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, report, type Result } from "../service/agents.ts"
import type { Process } from "../service/Service.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"
import { oneOf } from "../properties/arbitraries.ts"
import { eventOf, heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { testsFrom } from "@tocsin/testing/testsFrom"

const OTHER = AgentId.make("other")
const DISK = { agent_id: AGENT, check_id: CheckId.make("disk") }

const open = openTimeline({ agents: [AGENT, OTHER] })

const tagOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)

const checkOf = ({ queries }: Process, check = "disk") =>
  Effect.map(queries.checks({ agent_id: AGENT, limit: 100 }), ({ items }) =>
    items.find((item) => item.check_id === check),
  )

const test = testsFrom(open, it.effect)

describe("resetting a check's clock", () => {
  /** Sends a result observed a number of seconds from now. */
  const observe = Effect.fnUntraced(function* (
    process: Process,
    seconds: number,
    status: CheckStatus,
    number: number,
  ) {
    const observed_at = Instant.plus(yield* Instant.now, Duration.seconds(seconds))
    const events = [eventOf(number, { observed_at, status })]
    return yield* process.ingest.events(keyOf(AGENT), { agent_id: AGENT, events })
  })

  test("resets a clock in the future to the arrival of the last result", function* ({ process, after }) {
    yield* observe(process, 3_600, "critical", 1)
    const arrived = yield* Instant.now
    yield* after("1 minute")
    assert.deepStrictEqual(yield* observe(process, 0, "ok", 2), { accepted: 0, deduplicated: 1 })
    assert.deepStrictEqual(yield* process.operations.resetClock(DISK), { count: 1 })
    assert.strictEqual((yield* checkOf(process))?.last_observed_at, arrived)
    assert.strictEqual((yield* checkOf(process))?.status, "critical")
    assert.deepStrictEqual(yield* observe(process, 0, "ok", 3), { accepted: 1, deduplicated: 0 })
    assert.deepStrictEqual(yield* process.operations.resetClock(DISK), { count: 0 })
  })

  test("keeps deduplicating: a stored event that is sent again changes nothing", function* (opened) {
    const { process, disk } = opened
    const observed_at = Instant.plus(yield* Instant.now, Duration.hours(1))
    const events = [eventOf(1, { observed_at, status: "warning" })]
    const send = process.ingest.events(keyOf(AGENT), { agent_id: AGENT, events })
    yield* send
    yield* process.operations.resetClock(DISK)
    yield* disk.turns("ok")
    assert.deepStrictEqual(yield* send, { accepted: 0, deduplicated: 1 })
    assert.strictEqual((yield* checkOf(process))?.status, "ok")
  })

  test("lets the agent's heartbeats count again, if they were ahead", function* ({ disk, process }) {
    const heartbeats = (days: number, hostname: string) =>
      Effect.flatMap(Instant.now, (now) => {
        const observed_at = Instant.plus(now, Duration.days(days))
        return process.ingest.heartbeat(keyOf(AGENT), heartbeatOf("a", { observed_at, hostname }))
      })
    yield* disk.turns("ok")
    yield* heartbeats(1, "ahead.example.org")
    assert.deepStrictEqual(yield* process.operations.resetClock(DISK), { count: 1 })
    yield* heartbeats(0, "now.example.org")
    assert.strictEqual((yield* process.queries.agent(AGENT)).hostname, "now.example.org")
  })

  test("lets them count again although the time that they stated has come", function* ({
    after,
    disk,
    process,
  }) {
    const heartbeats = (hours: number, hostname: string) =>
      Effect.flatMap(Instant.now, (now) => {
        const observed_at = Instant.plus(now, Duration.hours(hours))
        return process.ingest.heartbeat(keyOf(AGENT), heartbeatOf("a", { observed_at, hostname }))
      })
    yield* disk.turns("ok")
    yield* heartbeats(1, "ahead.example.org")
    yield* after("2 hours")
    assert.deepStrictEqual(yield* process.operations.resetClock(DISK), { count: 1 })
    yield* heartbeats(-1.5, "spooled.example.org")
    assert.strictEqual((yield* process.queries.agent(AGENT)).hostname, "spooled.example.org")
  })

  test("does not change a clock that is not ahead", function* ({ process }) {
    yield* observe(process, -30, "critical", 1)
    const before = yield* checkOf(process)
    assert.deepStrictEqual(yield* process.operations.resetClock(DISK), { count: 0 })
    assert.deepStrictEqual(yield* checkOf(process), before)
  })

  test("fails for an unknown agent and an unknown check", function* ({ process }) {
    const { resetClock, removeCheck, resolveCheck, explain } = process.operations
    const nobody = { ...DISK, agent_id: AgentId.make("nobody") }
    for (const act of [resetClock, removeCheck, resolveCheck]) {
      assert.strictEqual(yield* tagOf(act(nobody)), "AgentNotFound")
      assert.strictEqual(yield* tagOf(act(DISK)), "NotFound")
    }
    assert.strictEqual(yield* tagOf(explain(nobody)), "AgentNotFound")
    assert.strictEqual(yield* tagOf(explain(DISK)), "NotFound")
  })
})

describe("removing a check", () => {
  test("removes its history and its count, and resolves its incident", function* ({ process, disk, outbox }) {
    yield* report(process, [
      { check: "disk", status: "warning" },
      { check: "load", status: "ok" },
    ])
    yield* disk.turns("critical")
    assert.deepStrictEqual(yield* process.operations.removeCheck(DISK), { count: 1 })
    assert.strictEqual(yield* checkOf(process), undefined)
    const { items } = yield* process.queries.history({ limit: 100 })
    assert.deepStrictEqual(
      items.map(({ check_id }) => String(check_id)),
      ["load"],
    )
    const { checks_ok, checks_critical, checks_warning, open_incidents } = yield* process.queries.summary
    assert.deepStrictEqual([checks_ok, checks_critical, checks_warning, open_incidents], [1, 0, 0, 0])
    yield* settled
    yield* outbox.is("firing sent", "firing sent", "resolved sent")
    assert.strictEqual(yield* tagOf(process.operations.removeCheck(DISK)), "NotFound")
  })

  test("discards a firing that waits for a retry, and no resolved follows", function* (opened) {
    const { after, disk, outbox, process, webhook } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    assert.deepStrictEqual(yield* process.operations.removeCheck(DISK), { count: 1 })
    yield* webhook.answers(delivered)
    yield* after("1 hour")
    yield* outbox.is("firing discarded")
  })

  test("leaves a shared incident to its other members", function* ({ process }) {
    yield* report(process, [{ check: "disk", status: "critical", key: "shared", output: "no room" }])
    yield* report(
      process,
      [{ check: "disk", status: "warning", key: "shared", output: "little room" }],
      OTHER,
    )
    yield* process.operations.removeCheck(DISK)
    const { items } = yield* process.queries.incidents({ sort: "status", direction: "desc", limit: 10 })
    assert.strictEqual(items.length, 1)
    const [incident] = items
    assert.deepStrictEqual(
      [incident?.state, incident?.severity, incident?.agent_id, incident?.summary],
      ["open", "warning", OTHER, "little room"],
    )
  })

  test("lets it return as new, with event IDs that it used before", function* ({ process }) {
    const events = [eventOf(1, { status: "critical" })]
    const send = process.ingest.events(keyOf(AGENT), { agent_id: AGENT, events })
    yield* send
    yield* process.operations.removeCheck(DISK)
    assert.deepStrictEqual(yield* send, { accepted: 1, deduplicated: 0 })
    const { checks_critical, open_incidents } = yield* process.queries.summary
    assert.deepStrictEqual([checks_critical, open_incidents], [1, 1])
  })
})

const RANK: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, unknown: 2, critical: 3 }
const WORST = ["ok", "warning", "unknown", "critical"] as const

const result: Arbitrary.Arbitrary<Result & { readonly agent: AgentId }> = Arbitrary.all({
  agent: oneOf(AGENT, OTHER),
  check: oneOf("disk", "load"),
  status: oneOf("critical", "ok", "warning", "unknown"),
  key: Arbitrary.Constant("shared"),
})

describe("removing an agent", () => {
  test("leaves its incident with the worst of its checks", function* ({ agent, service }) {
    yield* agent().reports(
      { check: "load", status: "warning", key: "shared" },
      { check: "disk", status: "critical", key: "shared" },
    )
    yield* agent().isDeleted
    const [incident] = service.rows().incidents.values()
    assert.deepInclude(incident, { state: "resolved", severity: "critical" })
  })
})

describe("the scenario of an incident", () => {
  it.effect.prop(
    "lists in order who joined, worsened, improved and left, with the severity after each change",
    { results: Arbitrary.array(result, { minLength: 5, maxLength: 40 }) },
    ({ results }) =>
      Effect.gen(function* () {
        const { service, process } = yield* open
        const statuses = new Map<string, CheckStatus>()
        const told: Array<string> = []
        for (const one of results) {
          yield* TestClock.adjust("1 second")
          yield* report(process, [one], one.agent)
          const name = `${one.agent}/${one.check}`
          const was = statuses.get(name) ?? "ok"
          statuses.set(name, one.status)
          if (was === one.status) continue
          const change =
            was === "ok"
              ? "joined"
              : one.status === "ok"
                ? "left"
                : RANK[one.status] > RANK[was]
                  ? "worsened"
                  : "improved"
          const worst = WORST[Math.max(...Array.from(statuses.values(), (status) => RANK[status]))] ?? "ok"
          const severity = one.status === "ok" ? was : one.status
          told.push(`${Instant.format(yield* Instant.now)} ${name} ${change} ${severity}, then ${worst}`)
        }
        const scenarios = yield* Effect.forEach(service.rows().incidents.keys(), (id) =>
          process.operations.incident(IncidentId.make(id)),
        )
        const lines = scenarios.flatMap(({ changes }) => {
          assert.deepStrictEqual(
            changes.map(({ seq }) => seq),
            changes.map((_, at) => changes.length - at),
          )
          return changes.toReversed()
        })
        assert.deepStrictEqual(
          lines.map(
            (line) =>
              `${Instant.format(line.changed_at)} ${line.agent_id}/${line.check_id} ${line.change} ${line.severity}, then ${line.incident_severity ?? "ok"}`,
          ),
          told,
        )
        for (const { incident, members } of scenarios) {
          const present = members.filter((member) => member.left_at === undefined)
          const { members_warning, members_unknown, members_critical } = incident
          assert.strictEqual(present.length, members_warning + members_unknown + members_critical)
          assert.deepStrictEqual(members.slice(0, present.length), present)
        }
      }),
    { arbitrary: { runs: propertyRuns(100), size: 40, maxShrinks: 500 } },
  )

  test("shows all kept changes, and the 200 worst members", function* ({ service, process }) {
    const checks = Array.from({ length: 250 }, (_, at) => `check-${at}`)
    yield* report(
      process,
      checks.map((check) => ({ check, status: "warning", key: "shared" }) as const),
    )
    yield* report(process, [{ check: "check-7", status: "critical", key: "shared" }])
    const [id] = service.rows().incidents.keys()
    const scenario = yield* process.operations.incident(IncidentId.make(id ?? ""))
    const { members, changes } = scenario
    assert.deepStrictEqual([members.length, changes.length], [200, 251])
    assert.strictEqual(String(members[0]?.check_id), "check-7")
    assert.strictEqual(changes[0]?.seq, 251)
    assert.strictEqual(toIncidentDetail(scenario).timeline_left_out, 0)
    const { opened_at: starts_at } = scenario.incident
    const silence = {
      id: SilenceId.make("0190b3a4-0000-7000-8000-000000000001"),
      matchers: [],
      starts_at,
      ends_at: starts_at,
      created_at: starts_at,
      created_by: "ann",
      comment: "",
    }
    const silences = Array.from({ length: 230 }, () => ({ silence, covers_all: true }))
    const silenced = toIncidentDetail({ ...scenario, silences })
    assert.deepStrictEqual([silenced.silences.length, silenced.silences_left_out], [200, 30])
    for (let round = 0; round < 4; round++) {
      const status = round % 2 === 0 ? "critical" : "warning"
      yield* report(
        process,
        checks.map((check) => ({ check, status, key: "shared" }) as const),
      )
    }
    const long = toIncidentDetail(yield* process.operations.incident(IncidentId.make(id ?? "")))
    // All but one of the first round are changes.
    assert.deepStrictEqual([long.timeline.length, long.timeline_left_out], [1_000, 250])
  })

  test("is not found for an unknown incident", function* ({ process }) {
    const id = IncidentId.make("0190b3a4-0000-7000-8000-000000000000")
    assert.strictEqual(yield* tagOf(process.operations.incident(id)), "NotFound")
  })
})

describe("explaining a check", () => {
  test("states its status, since when, and its incident", function* ({ process, after, disk }) {
    yield* report(process, [{ check: "disk", status: "critical", output: "full" }])
    const first = yield* process.operations.explain(DISK)
    assert.strictEqual(first.check.status, "critical")
    assert.strictEqual(first.incident?.incident_key.toString(), "a/disk")
    assert.deepStrictEqual([first.age_seconds, first.skew_seconds], [0, 0])
    assert.match(first.reasons.join("\n"), /reported critical with exit code 2/)
    assert.match(first.reasons.join("\n"), /stored as a change, the first one that is known/)
    assert.match(first.reasons.join("\n"), /member of an open incident/)
    yield* after("60 seconds")
    yield* report(process, [{ check: "disk", status: "critical", output: "still full" }])
    yield* after("7 seconds")
    const second = yield* process.operations.explain(DISK)
    assert.match(second.reasons.join("\n"), /repeated the one before/)
    assert.strictEqual(second.age_seconds, 7)
    assert.strictEqual(second.last_change?.event_id, first.last_change?.event_id)
    yield* disk.turns("ok")
    const third = yield* process.operations.explain(DISK)
    assert.isNull(third.incident)
    assert.match(third.reasons.join("\n"), /differed from the one before/)
    assert.notMatch(third.reasons.join("\n"), /incident/)
    assert.notStrictEqual(third.last_change?.event_id, first.last_change?.event_id)
  })

  test("states that a clock is ahead, and how to reset it", function* ({ process }) {
    const observed_at = Instant.plus(yield* Instant.now, Duration.hours(1))
    const events = [eventOf(1, { observed_at, status: "ok", event_id: EventId.make(eventOf(1).event_id) })]
    yield* process.ingest.events(keyOf(AGENT), { agent_id: AGENT, events })
    const ahead = yield* process.operations.explain(DISK)
    assert.strictEqual(ahead.skew_seconds, -3_600)
    assert.match(ahead.reasons.join("\n"), /3600 s ahead.*reset-clock/)
    yield* process.operations.resetClock(DISK)
    assert.notMatch((yield* process.operations.explain(DISK)).reasons.join("\n"), /ahead/)
  })

  test("states that the agent is silent", function* ({ process, after, disk }) {
    yield* disk.turns("ok")
    assert.notMatch((yield* process.operations.explain(DISK)).reasons.join("\n"), /The agent is/)
    yield* after("130 seconds")
    const stale = yield* process.operations.explain(DISK)
    assert.strictEqual(stale.agent.status, "stale")
    assert.match(stale.reasons.join("\n"), /The agent is stale/)
  })
})

describe("testing a notifier", () => {
  test("returns the receiver's answer, and fails for a notifier that is not configured", function* (opened) {
    const { process } = opened
    const { testNotifier } = process.operations
    assert.deepStrictEqual(yield* testNotifier("webhook"), {
      result: { outcome: "delivered" },
      status: 200,
    })
    assert.strictEqual(yield* tagOf(testNotifier("messenger")), "NotFound")
  })
})
