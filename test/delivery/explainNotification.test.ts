import { assert, describe, it } from "@effect/vitest"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { newId } from "@tocsin/core/kernel/ports/Ids"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { deferred } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

/** A timeline, and why each notification of its incident was sent or not, the latest first. */
const openWith = Effect.fnUntraced(function* (delivers: boolean) {
  const timeline = yield* openTimeline({
    deadAfter: Duration.days(30),
    process: { keepsHouse: delivers, delivers },
  })
  const { process, service } = timeline
  const { reports } = timeline.agent()
  const id = () => Array.from(service.rows().incidents.values())[0]?.id ?? assert.fail("there is no incident")
  const acknowledge = Effect.orDie(Effect.suspend(() => process.operations.acknowledge(id(), {})))
  return {
    ...timeline,
    id,
    /** An acknowledgement holds the only firing of the incident `db`, since a minute. */
    isHeld: Effect.fnUntraced(function* (status: "warning" | "critical") {
      yield* reports({ check: "disk", status, key: "db", loud: false })
      yield* acknowledge
      yield* reports({ check: "cpu", status, key: "db" })
      yield* timeline.after("1 minute")
    }),
    why: Effect.map(Effect.orDie(Effect.suspend(() => process.operations.incident(id()))), (scenario) =>
      toIncidentDetail(scenario).deliveries.map(({ why }) => why),
    ),
  }
})

const open = openWith(true)

describe("why a notification was sent or not", () => {
  it.effect("sent ones name their cause", () =>
    Effect.gen(function* () {
      const { disk, why } = yield* open
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      yield* disk.turns("ok")
      assert.deepStrictEqual(yield* why, [
        "the incident resolved",
        "the incident worsened",
        "the first firing of the incident for this receiver",
      ])
    }),
  )

  it.effect("held ones name their hold, and later the resolution that came first", () =>
    Effect.gen(function* () {
      const { agent, isHeld, why } = yield* open
      yield* isHeld("critical")
      assert.deepStrictEqual(yield* why, ["held by ack"])
      yield* agent().reports(
        { check: "disk", status: "ok", key: "db" },
        { check: "cpu", status: "ok", key: "db" },
      )
      assert.deepStrictEqual(yield* why, ["the incident resolved before it was sent"])
    }),
  )

  it.effect("those behind another one of their receiver name that", () =>
    Effect.gen(function* () {
      const { after, disk, webhook, why } = yield* open
      yield* webhook.answers(deferred)
      yield* disk.turns("warning")
      yield* after("1 minute")
      yield* disk.turns("critical")
      const behind = "waits for the notification before it"
      assert.deepStrictEqual(yield* why, [behind, "waits for its next attempt"])
      yield* disk.turns("ok")
      assert.strictEqual((yield* why)[0], behind)
    }),
  )

  it.effect("one whose hold a change of labels ended names when that is noticed", () =>
    Effect.gen(function* () {
      const { after, disk, process, why } = yield* open
      const heartbeats = (labels: Readonly<Record<string, string>>) =>
        Effect.flatMap(Instant.now, (observed_at) =>
          Effect.orDie(process.ingest.heartbeat(keyOf(AGENT), heartbeatOf(AGENT, { labels, observed_at }))),
        )
      yield* heartbeats({ team: "db" })
      const { id } = yield* Effect.orDie(
        process.operations.silence({
          matchers: [{ field: "label:team", op: "=", value: "db" }],
          for: Duration.hours(1),
          comment: "new disks",
        }),
      )
      yield* after("1 minute")
      yield* disk.turns("critical")
      yield* after("1 minute")
      assert.deepStrictEqual(yield* why, [`held by silence:${id}`])
      yield* heartbeats({})
      assert.deepStrictEqual(yield* why, ["its hold has ended, which Tocsin notices within 5 minutes"])
      yield* after("5 minutes")
      assert.deepStrictEqual(yield* why, ["the first firing of the incident for this receiver"])
    }),
  )

  it.effect("one whose receiver a reload removed names that", () =>
    Effect.gen(function* () {
      const { after, disk, process, webhook, why } = yield* open
      yield* webhook.answers(deferred)
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      yield* process.policy.replace(compilePolicy({}, []))
      yield* process.sendsTo()
      yield* after("1 minute")
      const unserved = "no running server can use this receiver"
      assert.deepStrictEqual(yield* why, [unserved, unserved])
      yield* process.sendsTo("webhook")
      assert.notInclude(yield* why, unserved)
    }),
  )

  it.effect("one that a hold kept for a receiver that a reload removed names that, once the hold ends", () =>
    Effect.gen(function* () {
      const { id, isHeld, process, why } = yield* open
      yield* isHeld("critical")
      yield* process.policy.replace(compilePolicy({}, []))
      yield* process.sendsTo()
      assert.deepStrictEqual(yield* why, ["held by ack"])
      yield* Effect.orDie(process.operations.withdraw(id()))
      assert.deepStrictEqual(yield* why, ["no running server can use this receiver"])
    }),
  )

  it.effect("one whose agent was deleted during a failing attempt names that", () =>
    Effect.gen(function* () {
      const { after, agent, disk, webhook, why } = yield* open
      yield* webhook.answers({ ...deferred, answeringMillis: 5_000 })
      yield* disk.turns("critical")
      yield* agent().isDeleted
      yield* after("5 seconds")
      assert.deepStrictEqual(yield* why, ["its receiver got no firing", "its check or agent was deleted"])
    }),
  )

  it.effect("one whose agent was deleted before its attempt names that", () =>
    Effect.gen(function* () {
      const { agent, isHeld, why } = yield* open
      yield* isHeld("critical")
      yield* agent().isDeleted
      assert.deepStrictEqual(yield* why, ["its check or agent was deleted"])
    }),
  )

  it.effect("a reminder that was held until no route named its receiver names that", () =>
    Effect.gen(function* () {
      const { after, disk, process, why } = yield* open
      const names = ["webhook", "pager"]
      const remind = (receiver: string) => {
        const document = { routes: [{ match: ["check_id = disk"], remind: "15m", to: [receiver] }] }
        return process.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(document, names)), names))
      }
      yield* remind("webhook")
      yield* disk.turns("critical")
      yield* Effect.orDie(
        process.operations.silence({
          matchers: [{ field: "check_id", op: "=", value: "disk" }],
          for: Duration.hours(1),
          comment: "new disks",
        }),
      )
      yield* after("20 minutes")
      assert.match((yield* why)[0] ?? "", /^held by silence:/)
      yield* remind("pager")
      yield* after("1 minute")
      assert.include(yield* why, "no route names its receiver any more")
    }),
  )

  it.effect("one that was held while the incident worsened is the first that its receiver gets", () =>
    Effect.gen(function* () {
      const { after, agent, isHeld, why } = yield* open
      yield* isHeld("warning")
      yield* agent().reports({ check: "load", status: "critical", key: "db" })
      yield* after("1 minute")
      assert.deepStrictEqual(yield* why, ["the first firing of the incident for this receiver"])
    }),
  )

  it.effect("of two that were held at once, the one that was not sent names the other", () =>
    Effect.gen(function* () {
      const { after, agent, process, service, why } = yield* openWith(false)
      yield* agent().reports(
        { check: "disk", status: "warning", key: "db" },
        { check: "load", status: "critical", key: "db" },
      )
      yield* Effect.orDie(
        process.operations.silence({
          matchers: [{ field: "incident_key", op: "=", value: "db" }],
          for: Duration.minutes(10),
          comment: "new disks",
        }),
      )
      yield* service.open("sender", { keepsHouse: true })
      yield* after("15 minutes")
      const sent = "the first firing of the incident for this receiver"
      assert.deepStrictEqual(yield* why, [sent, "superseded by a newer notification"])
    }),
  )

  it.effect("one that was held while its incident worsened and resolved names the resolution", () =>
    Effect.gen(function* () {
      const { agent, isHeld, why } = yield* open
      yield* isHeld("warning")
      yield* agent().reports(
        { check: "load", status: "critical", key: "db" },
        ...["disk", "cpu", "load"].map((check) => ({ check, status: "ok", key: "db" }) as const),
      )
      const resolved = "the incident resolved before it was sent"
      assert.deepStrictEqual(yield* why, [resolved])
    }),
  )

  it.effect("the page of an incident states who was notified before more than a thousand reminders", () =>
    Effect.gen(function* () {
      const { disk, id, process, service } = yield* open
      yield* disk.turns("critical")
      const [first = assert.fail("nobody was notified")] = service.rows().outbox.values()
      const remind = commandOf(function* (unit) {
        yield* load(unit, { incidents: [id()] })
        for (let n = 0; n < 1_001; n++)
          unit.outbox.put({
            ...first,
            id: newId<OutboxId>(service.ids)(unit.now),
            receiver: "pager",
            cause: "reminder",
          })
      })
      yield* process.commits.transact(remind())
      const { notified } = toIncidentDetail(yield* process.operations.incident(id()))
      assert.deepStrictEqual(
        notified.map(({ receiver }) => receiver),
        ["pager", "webhook"],
      )
    }),
  )
})
