import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { keyOf } from "@tocsin/testing/samples"
import { Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openTimeline, type TimelineOptions } from "../service/Timeline.ts"

const open = Effect.fnUntraced(function* (options: TimelineOptions = {}) {
  const timeline = yield* openTimeline(options)
  const { process, service } = timeline
  const shown = () =>
    service.receivers.attempts.map(({ notification: { details, event_type } }) => [
      event_type,
      details && { labels: details.labels, output: details.output },
    ])
  return { ...timeline, faults: process.faults, shown }
})

describe("the details of messages", () => {
  it.effect("are read at each attempt, and a resolved has none", () =>
    Effect.gen(function* () {
      const { after, disk, process, shown, webhook } = yield* open()
      yield* webhook.answers(deferred)
      yield* disk.turns("critical", { output: "disk is full\nsda1: 0 B" })
      yield* process.ingest.expectations(keyOf(AGENT), {
        agent_id: AGENT,
        request: {
          complete: false,
          checks: [
            { check_id: CheckId.make("disk"), labels: { mount: "/var" }, notifications_enabled: true },
          ],
        },
      })
      yield* disk.turns("critical", { output: "disk is full\nsda1: 4 KiB" })
      yield* webhook.answers(delivered)
      yield* after("1 minute")
      yield* disk.turns("ok")
      yield* after("1 minute")
      assert.deepStrictEqual(shown(), [
        ["firing", { labels: {}, output: "disk is full\nsda1: 0 B" }],
        ["firing", { labels: { mount: "/var" }, output: "disk is full\nsda1: 4 KiB" }],
        ["resolved", undefined],
      ])
    }),
  )

  it.effect("are those of the worst check that is loud, by one read for all that a claim took", () =>
    Effect.gen(function* () {
      const { after, agent, faults, shown } = yield* open({ separateFront: true })
      faults.isUnreachable = true
      for (const key of ["x", "y", "z"])
        yield* agent().reports(
          { check: `${key}-loud`, status: "unknown", key, output: `loud ${key}` },
          { check: `${key}-mild`, status: "warning", key, output: "mild" },
        )
      yield* agent().reports({ check: "x-quiet", status: "critical", key: "x", loud: false, output: "quiet" })
      faults.isUnreachable = false
      yield* after("1 minute")
      const outputs = shown().map(([, details]) => details)
      assert.deepStrictEqual(
        outputs,
        ["x", "y", "z"].map((key) => ({ labels: {}, output: `loud ${key}` })),
      )
      assert.deepStrictEqual(faults.lastResultsRead, [3])
    }),
  )

  it.effect("are not read where they are switched off, nor of an agent that is silent", () =>
    Effect.gen(function* () {
      const off = yield* open({ messageDetails: false })
      yield* off.disk.turns("critical", { output: "full" })
      yield* off.webhook.has("firing critical a/disk")
      const on = yield* open({
        notifiers: ["webhook", "messenger", "alert_router"],
        process: { keepsHouse: true },
      })
      const receivers = {
        webhook: { kind: "webhook", url_env: "A", secret_env: "A", details: false },
        messenger: { kind: "messenger", url_env: "A", details: true },
      }
      const policy = compilePolicy(Result.getOrThrow(readPolicy({ receivers }, [])), ["alert_router"])
      yield* on.process.policy.replace(policy)
      yield* on.disk.turns("critical", { output: "full" })
      const having = on.service.receivers.attempts.filter(({ notification }) => notification.details)
      assert.deepStrictEqual(
        having.map(({ notification }) => notification.receiver),
        ["messenger"],
      )
      yield* on.after("10 minutes")
      yield* on.messenger.has("firing critical a/disk", "firing critical a/@heartbeat")
      assert.deepStrictEqual([off.faults.lastResultsRead, on.faults.lastResultsRead], [[], [1]])
    }),
  )

  it.effect("are not those of a check that has another status by then: it is not late", () =>
    Effect.gen(function* () {
      const { after, disk, faults, shown } = yield* open()
      faults.lastResultsTake = "1 second"
      yield* disk.turns("critical", { output: "disk is full" })
      yield* disk.turns("ok", { output: "disk has room" })
      yield* after("1 minute")
      assert.deepStrictEqual(shown(), [
        ["firing", undefined],
        ["resolved", undefined],
      ])
    }),
  )

  it.effect("never keep a message back: without them after 2 s, or an error", () =>
    Effect.gen(function* () {
      const { after, agent, disk, faults, shown } = yield* open()
      faults.lastResultsTake = "1 hour"
      yield* disk.turns("critical", { output: "full" })
      assert.deepStrictEqual(shown(), [])
      yield* after("2 seconds")
      faults.lastResultsTake = 0
      faults.failsLastResults = true
      yield* agent().reports({ check: "load", status: "warning", output: "high" })
      faults.failsLastResults = false
      yield* agent().reports({ check: "swap", status: "warning", output: "low" })
      assert.deepStrictEqual(shown(), [
        ["firing", undefined],
        ["firing", undefined],
        ["firing", { labels: {}, output: "low" }],
      ])
    }),
  )
})
