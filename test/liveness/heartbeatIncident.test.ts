import { createHash } from "node:crypto"
import { AgentId, IncidentKey, KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { AGENT, heartbeat, enroll } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openIncidents, openTimeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/**
 * So many processes that sweep for silent agents, and the accepted agent `a` unless there are
 * others.
 */
const open = Effect.fnUntraced(function* (processes = 1, agents: ReadonlyArray<AgentId> = [AGENT]) {
  const timeline = yield* openTimeline({ process: { keepsHouse: true }, agents: [] })
  const { service, front } = timeline
  for (let number = 2; number <= processes; number++) {
    yield* service.open(`process ${number}`, { keepsHouse: true })
  }
  yield* settled
  yield* enroll(front, ...agents)
  const opened = () =>
    Array.from(service.rows().incidents.values()).filter((incident) =>
      incident.incident_key.endsWith("/@heartbeat"),
    )
  return { ...timeline, /** All heartbeat incidents so far. */ opened }
})

const fingerprintOf = (name: string) => {
  const digest = createHash("sha256")
    .update(Redacted.value(keyOf(name)))
    .digest("hex")
  return KeyFingerprint.make(digest.slice(0, 16))
}

const agentsNamed = (count: number) => Array.from({ length: count }, (_, at) => AgentId.make(`agent-${at}`))

const test = testsFrom(open(), it.effect)

describe("an accepted agent that turns dead", () => {
  test("opens one critical incident after 5 minutes, within 15 seconds", function* (opened) {
    const { front, after, incidents, webhook } = opened
    yield* after(299_999)
    yield* incidents.areOpen()
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@heartbeat")
    const [incident] = yield* openIncidents(front)
    assert.deepInclude(incident, {
      incident_key: IncidentKey.make("a/@heartbeat"),
      severity: "critical",
      state: "open",
      agent_id: AGENT,
      resolved_at: null,
    })
    assert.notProperty(incident, "check_id")
    assert.match(incident?.summary ?? "", /^no contact with a \(a\.example\.org\) since \d{4}-\S+ \S+ UTC$/)
    yield* after("10 minutes")
    yield* incidents.areOpen("a/@heartbeat")
    yield* webhook.has("firing critical a/@heartbeat")
  })

  it.effect("names a host once whose agent has its name", () =>
    Effect.gen(function* () {
      const { after, front } = yield* open(1, [])
      yield* front.ingest.heartbeat(keyOf("a"), heartbeatOf("a", { hostname: "a" }))
      yield* front.admission.acceptAll({ includeRotation: false })
      yield* after("6 minutes")
      const [incident] = yield* openIncidents(front)
      assert.match(incident?.summary ?? "", /^no contact with a since /)
    }),
  )

  it.effect.each(["heartbeat", "events"])("resolves it with its next contact: %s", (contact) =>
    Effect.gen(function* () {
      const { front, after, agent, disk, incidents, webhook } = yield* open()
      yield* after("6 minutes")
      yield* contact === "heartbeat" ? agent().heartbeats : disk.turns("ok")
      yield* incidents.areOpen()
      yield* webhook.has("firing critical a/@heartbeat", "resolved critical a/@heartbeat")
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

  test("opens a new incident each time", function* ({ after, agent, incidents, opened }) {
    for (let times = 1; times <= 3; times++) {
      yield* after("320 seconds")
      yield* incidents.areOpen("a/@heartbeat")
      yield* agent().heartbeats
      yield* incidents.areOpen()
      assert.strictEqual(opened().length, times)
    }
    // A contact just in time prevents it.
    for (let times = 0; times < 5; times++) {
      yield* after("299 seconds")
      yield* agent().heartbeats
    }
    assert.strictEqual(opened().length, 3)
  })

  test("keeps the incidents of its checks", function* ({ after, agent, disk, incidents }) {
    yield* disk.turns("warning")
    yield* after("6 minutes")
    yield* incidents.areOpen("a/@heartbeat", "a/disk")
    yield* agent().heartbeats
    yield* incidents.areOpen("a/disk")
  })

  it.effect.each(["remove", "block"] as const)("resolves it by %s", (action) =>
    Effect.gen(function* () {
      const { front, after, incidents, webhook, opened } = yield* open()
      yield* after("6 minutes")
      yield* front.admission[action](AGENT)
      yield* incidents.areOpen()
      yield* after("20 minutes")
      yield* webhook.has("firing critical a/@heartbeat", "resolved critical a/@heartbeat")
      assert.strictEqual(opened().length, 1)
    }),
  )

  it.effect("is found by one of several processes", () =>
    Effect.gen(function* () {
      const { front, after, outbox, opened } = yield* open(3, agentsNamed(40))
      yield* after("315 seconds")
      assert.strictEqual((yield* openIncidents(front)).length, 40)
      assert.strictEqual(opened().length, 40)
      assert.strictEqual(outbox.items().length, 40)
    }),
  )

  it.effect("is found in time among more agents than one transaction sweeps", () =>
    Effect.gen(function* () {
      const { after, opened } = yield* open(1, agentsNamed(1_100))
      yield* after("315 seconds")
      assert.strictEqual(opened().length, 1_100)
    }),
  )
})

describe("a pending agent", () => {
  it.effect("opens no incident before the dead threshold has passed since it was accepted", () =>
    Effect.gen(function* () {
      const { front, after, incidents, opened } = yield* open(1, [])
      yield* heartbeat(front)
      yield* after("20 minutes")
      assert.strictEqual(opened().length, 0)
      yield* front.admission.accept(AGENT)
      yield* after(299_999)
      // Its status does not wait.
      assert.strictEqual((yield* front.queries.agent(AGENT)).status, "dead")
      yield* incidents.areOpen()
      yield* after("15 seconds")
      yield* incidents.areOpen("a/@heartbeat")
    }),
  )
})

describe("a heartbeat with a replacement key", () => {
  test("is a contact only after the key is accepted", function* ({ front, after, incidents }) {
    const beatWithOtherKey = front.ingest.heartbeat(keyOf("another"), heartbeatOf(AGENT))
    for (let minutes = 0; minutes < 6; minutes++) {
      yield* beatWithOtherKey
      yield* after("1 minute")
    }
    yield* incidents.areOpen("a/@heartbeat")
    yield* front.admission.accept(AGENT)
    yield* beatWithOtherKey
    yield* incidents.areOpen()
  })

  it.effect("that its fingerprint accepts leaves another one to be compared", () =>
    Effect.gen(function* () {
      const acceptFingerprints = new Set([fingerprintOf("third")])
      const { front } = yield* openTimeline({ process: { rules: { acceptFingerprints } } })
      const beat = (key: string) => Effect.orDie(front.ingest.heartbeat(keyOf(key), heartbeatOf(AGENT)))
      yield* beat("second")
      yield* beat("third")
      assert.deepInclude(yield* front.queries.agent(AGENT), {
        key_fingerprint: fingerprintOf("second"),
        rotation_pending: true,
      })
    }),
  )
})
