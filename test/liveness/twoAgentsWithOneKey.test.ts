import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { Effect } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openIncidents, openTimeline } from "../service/Timeline.ts"

const [A, B, C] = ["a".repeat(16), "b".repeat(16), "c".repeat(16)]

/** The agent `a`, and heartbeats of its processes on their hosts. */
const open = Effect.fnUntraced(function* () {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const beat = Effect.fnUntraced(function* (process: string | undefined, hostname = "web-1", ago = 0) {
    const observed_at = Instant.minus(yield* Instant.now, ago)
    const request = heartbeatOf(AGENT, { observed_at, hostname })
    yield* Effect.orDie(timeline.front.ingest.heartbeat(keyOf(AGENT), request, { process }))
    yield* settled
  })
  /** Two hosts, whose checks differ, for so many minutes. */
  const share = Effect.fnUntraced(function* (minutes: number) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* beat(A, "web-1")
      yield* timeline.disk.turns("ok")
      yield* timeline.after("30 seconds")
      yield* beat(B, "web-2")
      yield* timeline.disk.turns("critical")
      yield* timeline.after("30 seconds")
    }
  })
  return { ...timeline, beat, share }
})

const test = testsFrom(open(), it.effect)

describe("two agents with one key", () => {
  test("are one message, which names both hosts and what to do, and a recovery ten minutes after", function* ({
    after,
    beat,
    front,
    share,
    webhook,
  }) {
    yield* beat(A, "web-1")
    yield* after("20 seconds")
    yield* beat(B, "web-2")
    yield* after("20 seconds")
    yield* share(20)
    yield* webhook.has("firing critical a/@twice")
    const twice = (yield* openIncidents(front)).find(({ incident_key }) => incident_key === "a/@twice")
    assert.strictEqual(
      twice?.summary,
      "two agents use the key of a, on web-2 and on web-1: on one of them, stop the agent, delete its key (sudo find /var/lib/tocsin-agent -type f -delete), set another agent_id, and start it",
    )
    assert.notProperty(twice, "check_id")
    yield* beat(A, "web-1")
    for (let minute = 0; minute < 9; minute++) {
      yield* after("1 minute")
      yield* beat(A, "web-1")
    }
    yield* webhook.has("firing critical a/@twice")
    yield* after("70 seconds")
    yield* webhook.has("firing critical a/@twice", "resolved critical a/@twice")
  })

  test("hold the messages about their checks, which follow once one has the key to itself", function* ({
    after,
    beat,
    disk,
    incidents,
    outbox,
    webhook,
  }) {
    yield* beat(A)
    yield* beat(B)
    yield* beat(A)
    yield* disk.turns("critical")
    yield* webhook.has("firing critical a/@twice")
    assert.deepStrictEqual(
      outbox.items().flatMap(({ holds = [] }) => holds.map(({ by }): string => by)),
      ["parent:a/@twice"],
    )
    for (let minute = 0; minute < 14; minute++) {
      yield* after("1 minute")
      yield* beat(A)
    }
    yield* incidents.areOpen("a/disk")
    yield* webhook.has("firing critical a/@twice", "resolved critical a/@twice", "firing critical a/disk")
  })

  test("hold no incident that another agent's check is in too", function* ({
    agent,
    beat,
    webhook,
    front,
    after,
  }) {
    yield* beat(A)
    yield* beat(B)
    yield* beat(A)
    yield* agent().reports({ check: "disk", status: "critical", key: "storage" })
    yield* after("1 minute")
    yield* webhook.has("firing critical a/@twice")
    yield* Effect.orDie(front.ingest.heartbeat(keyOf("b"), heartbeatOf("b")))
    yield* Effect.orDie(front.admission.acceptAll({ includeRotation: false }))
    yield* agent("b" as typeof AGENT).reports({ check: "disk", status: "critical", key: "storage" })
    yield* after("15 seconds")
    yield* webhook.has("firing critical a/@twice", "firing critical storage")
  })

  test("are none where one restarts, sends no process, or a heartbeat arrives late", function* ({
    after,
    beat,
    incidents,
  }) {
    for (const process of [A, undefined, B, undefined, C]) {
      yield* beat(process)
      yield* after("1 minute")
    }
    yield* beat(B, "web-1", 120_000)
    yield* incidents.areOpen()
  })

  test("end with both: after ten minutes of silence, and as the agent is deleted", function* ({
    after,
    agent,
    beat,
    incidents,
    webhook,
  }) {
    const twice = ["firing critical a/@twice", "resolved critical a/@twice"]
    yield* beat(A)
    yield* beat(B)
    yield* beat(A)
    yield* after("9 minutes")
    yield* incidents.areOpen("a/@heartbeat", "a/@twice")
    yield* after("2 minutes")
    yield* incidents.areOpen("a/@heartbeat")
    yield* webhook.has(
      "firing critical a/@twice",
      "firing critical a/@heartbeat",
      "resolved critical a/@twice",
    )
    yield* beat(A)
    yield* beat(B)
    yield* beat(A)
    yield* incidents.areOpen("a/@twice")
    yield* agent().isDeleted
    yield* incidents.areOpen()
    yield* webhook.has(
      "firing critical a/@twice",
      "firing critical a/@heartbeat",
      "resolved critical a/@twice",
      "resolved critical a/@heartbeat",
      ...twice,
    )
  })

  test("stay one incident over an outage of the service", function* ({
    after,
    beat,
    isDownFor,
    incidents,
    share,
    webhook,
  }) {
    yield* beat(A)
    yield* beat(B)
    yield* beat(A)
    yield* isDownFor("30 minutes")
    yield* share(3)
    yield* after("30 seconds")
    yield* incidents.areOpen("a/disk", "a/@twice")
    yield* webhook.has("firing critical a/@twice")
  })
})
