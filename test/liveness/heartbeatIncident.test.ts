import { AgentId, IncidentKey } from "@tocsin/core/contract/Identifiers"
import * as Housekeeping from "@tocsin/core/usecases/Housekeeping"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { statesOf } from "../delivery/outboxOf.ts"
import { delivered, makeReceivers } from "../delivery/Receivers.ts"
import { AGENT, beat, enroll, report } from "../delivery/reports.ts"
import { settled } from "../delivery/settled.ts"
import { openSite, type Process, type Site } from "../delivery/Site.ts"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"

const open = Effect.fnUntraced(function* (processes = 1) {
  const site = yield* openSite({ receivers: makeReceivers({ answerTo: () => delivered }) })
  const front = yield* site.open("process 1", { background: Housekeeping.layer })
  for (let number = 2; number <= processes; number++) {
    yield* site.open(`process ${number}`, { background: Housekeeping.layer })
  }
  yield* settled
  return { site, front }
})

/** The open incidents as operators see them. */
const openIncidents = Effect.fnUntraced(function* ({ queries }: Process) {
  const page = yield* queries.incidents({ state: "open", sort: "status", direction: "desc", limit: 1_000 })
  return page.items
})

const keysOf = (incidents: ReadonlyArray<{ readonly incident_key: string }>) =>
  incidents.map((incident) => incident.incident_key)

const heartbeatIncidents = ({ watch }: Site) =>
  Array.from(watch.incidents.values()).filter((incident) => incident.incident_key.endsWith("/@heartbeat"))

describe("an accepted agent that turns dead", () => {
  it.effect("opens one critical incident within fifteen seconds, and not before", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      yield* enroll(front, AGENT)
      yield* TestClock.adjust(Duration.millis(299_999))
      assert.deepStrictEqual(yield* openIncidents(front), [])
      yield* TestClock.adjust(Duration.seconds(15))
      const [incident, ...others] = yield* openIncidents(front)
      if (incident === undefined) return assert.fail("there is no incident")
      assert.strictEqual(others.length, 0)
      assert.deepInclude(incident, {
        incident_key: IncidentKey.make("a/@heartbeat"),
        severity: "critical",
        state: "open",
        agent_id: AGENT,
        resolved_at: null,
      })
      assert.notProperty(incident, "check_id")
      assert.match(incident.summary ?? "", /no contact with a /)
      yield* TestClock.adjust(Duration.minutes(10))
      assert.strictEqual((yield* openIncidents(front)).length, 1)
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
    }),
  )

  it.effect.each(["heartbeat", "events"])("resolves it at its next contact, by %s", (contact) =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      yield* enroll(front, AGENT)
      yield* TestClock.adjust(Duration.minutes(6))
      if (contact === "heartbeat") yield* beat(front)
      else yield* report(front, [{ check: "disk", status: "ok" }])
      assert.deepStrictEqual(yield* openIncidents(front), [])
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing sent", "resolved sent"])
      const { items } = yield* front.queries.incidents({
        agent_id: AGENT,
        sort: "status",
        direction: "desc",
        limit: 10,
      })
      assert.strictEqual(items.length, 1)
      assert.notProperty(items[0], "check_id")
    }),
  )

  it.effect("opens another one each time", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      yield* enroll(front, AGENT)
      for (let times = 1; times <= 3; times++) {
        yield* TestClock.adjust(Duration.seconds(320))
        assert.deepStrictEqual(keysOf(yield* openIncidents(front)), ["a/@heartbeat"])
        yield* beat(front)
        assert.deepStrictEqual(yield* openIncidents(front), [])
        assert.strictEqual(heartbeatIncidents(site).length, times)
      }
      // Contact just in time is contact.
      for (let times = 0; times < 5; times++) {
        yield* TestClock.adjust(Duration.seconds(299))
        yield* beat(front)
      }
      assert.strictEqual(heartbeatIncidents(site).length, 3)
    }),
  )

  it.effect("goes on having those that its checks opened", () =>
    Effect.gen(function* () {
      const { front } = yield* open()
      yield* enroll(front, AGENT)
      yield* report(front, [{ check: "disk", status: "warning" }])
      yield* TestClock.adjust(Duration.minutes(6))
      assert.deepStrictEqual(keysOf(yield* openIncidents(front)), ["a/@heartbeat", "a/disk"])
      yield* beat(front)
      assert.deepStrictEqual(keysOf(yield* openIncidents(front)), ["a/disk"])
    }),
  )

  it.effect.each(["remove", "block"] as const)("and goes by %s leaves it resolved", (action) =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      yield* enroll(front, AGENT)
      yield* TestClock.adjust(Duration.minutes(6))
      yield* front.admission[action](AGENT)
      assert.deepStrictEqual(yield* openIncidents(front), [])
      yield* TestClock.adjust(Duration.minutes(20))
      assert.deepStrictEqual(statesOf(site), ["firing sent", "resolved sent"])
      assert.strictEqual(heartbeatIncidents(site).length, 1)
    }),
  )

  it.effect("is found by one of several processes", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open(3)
      const agents = Array.from({ length: 40 }, (_, at) => AgentId.make(`agent-${at}`))
      yield* enroll(front, ...agents)
      yield* TestClock.adjust(Duration.seconds(315))
      assert.strictEqual((yield* openIncidents(front)).length, 40)
      assert.strictEqual(heartbeatIncidents(site).length, 40)
      assert.strictEqual(statesOf(site).length, 40)
    }),
  )

  it.effect("is found in time among many more than one transaction takes", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      const agents = Array.from({ length: 1_100 }, (_, at) => AgentId.make(`agent-${at}`))
      yield* enroll(front, ...agents)
      yield* TestClock.adjust(Duration.seconds(315))
      assert.strictEqual(heartbeatIncidents(site).length, 1_100)
    }),
  )
})

describe("no incident opens", () => {
  it.effect("for a pending agent", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open()
      yield* beat(front)
      yield* TestClock.adjust(Duration.minutes(20))
      assert.strictEqual(heartbeatIncidents(site).length, 0)
      // Once accepted it counts by its last contact like any other.
      yield* front.admission.accept(AGENT)
      yield* TestClock.adjust(Duration.seconds(15))
      assert.deepStrictEqual(keysOf(yield* openIncidents(front)), ["a/@heartbeat"])
    }),
  )
})

describe("a heartbeat of a replacement key that is not accepted", () => {
  it.effect("is no contact", () =>
    Effect.gen(function* () {
      const { front } = yield* open()
      yield* enroll(front, AGENT)
      for (let minutes = 0; minutes < 6; minutes++) {
        yield* front.ingest.heartbeat(keyOf("another"), heartbeatOf(AGENT))
        yield* TestClock.adjust(Duration.minutes(1))
      }
      assert.deepStrictEqual(keysOf(yield* openIncidents(front)), ["a/@heartbeat"])
      yield* front.admission.accept(AGENT)
      yield* front.ingest.heartbeat(keyOf("another"), heartbeatOf(AGENT))
      assert.deepStrictEqual(yield* openIncidents(front), [])
    }),
  )
})
