import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { keyOf } from "@tocsin/testing/samples"
import { describe, it } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { type Answer, deferred, delivered, hanging, refused } from "../service/Receivers.ts"
import type { ProcessOptions } from "../service/Service.ts"
import { openTimeline, type Timeline } from "../service/Timeline.ts"

const slowly = (answer: Answer): Answer => ({ ...answer, answeringMillis: 5_000 })

/** One event of a timeline. */
type Step = (timeline: Timeline) => Effect.Effect<unknown, unknown>

const critical: Step = ({ disk }) => disk.turns("critical")
const warning: Step = ({ disk }) => disk.turns("warning")
const ok: Step = ({ disk }) => disk.turns("ok")
const answers =
  (answer: Answer): Step =>
  ({ webhook }) =>
    webhook.answers(answer)
const later =
  (duration: Duration.Input): Step =>
  ({ after }) =>
    after(duration)
const replay: Step = ({ process, outbox, after }) =>
  Effect.andThen(process.operations.replay(outbox.item().id), after(0))
const deleteAgent: Step = ({ agent }) => agent().isDeleted
const deleteCheck: Step = ({ process, after }) =>
  Effect.andThen(
    process.operations.removeCheck({ agent_id: AGENT, check_id: CheckId.make("disk") }),
    after(0),
  )

type Case = readonly [name: string, steps: ReadonlyArray<Step>, outbox: ReadonlyArray<string>]

/** The agent declares which of its checks are expected. */
const declare =
  (...checks: ReadonlyArray<object>): Step =>
  ({ after, front }) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete: true }))
    return Effect.andThen(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request }), after(0))
  }
/** A check that never reported is overdue, and the attempt to say so is under way. */
const neverReported: ReadonlyArray<Step> = [
  declare({ check_id: "disk", every: "1m" }),
  answers(slowly(deferred)),
  ({ after, agent, outbox }) =>
    Effect.repeat(Effect.andThen(after("1 second"), agent().heartbeats), {
      while: () => outbox.items().length === 0,
    }),
]

const playWith = (process: ProcessOptions) =>
  Effect.fnUntraced(function* ([, steps, outbox]: Case) {
    const timeline = yield* openTimeline({ deadAfter: Duration.days(30), process })
    for (const step of steps) yield* step(timeline)
    yield* timeline.outbox.is(...outbox)
  })
const play = playWith({})

const departures: ReadonlyArray<Case> = [
  [
    "fails after the agent was deleted",
    [answers(slowly(deferred)), critical, deleteAgent, later("5 seconds")],
    ["firing discarded", "resolved discarded"],
  ],
  [
    "ends with its lease after the agent was deleted",
    [answers(hanging), critical, deleteAgent, later("62 seconds")],
    ["firing discarded", "resolved discarded"],
  ],
  [
    "ends with its lease after a lower severity was sent and the agent was deleted",
    [warning, answers(hanging), critical, deleteAgent, answers(delivered), later("62 seconds")],
    ["firing sent", "firing discarded", "resolved sent"],
  ],
  [
    "ends with its lease after the check recovered",
    [answers(hanging), critical, ok, later("62 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails after the check was deleted",
    [answers(slowly(deferred)), critical, deleteCheck, later("5 seconds")],
    ["firing discarded", "resolved discarded"],
  ],
  [
    "fails after a lower severity was sent and the agent was deleted",
    [warning, answers(slowly(deferred)), critical, deleteAgent, answers(delivered), later("5 seconds")],
    ["firing sent", "firing discarded", "resolved sent"],
  ],
  [
    "is refused after the agent was deleted",
    [answers(slowly(refused)), critical, deleteAgent, later("5 seconds")],
    ["firing failed", "resolved discarded"],
  ],
  [
    "succeeds after the agent was deleted",
    [answers(slowly(delivered)), critical, deleteAgent, answers(delivered), later("5 seconds")],
    ["firing sent", "resolved sent"],
  ],
  [
    "fails after the check recovered",
    [answers(slowly(deferred)), critical, ok, later("5 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails after the check recovered and its agent was deleted",
    [answers(slowly(deferred)), critical, ok, deleteAgent, later("5 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails after the check recovered and was deleted",
    [answers(slowly(deferred)), critical, ok, deleteCheck, later("5 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails again after the check recovered and its agent was deleted",
    [answers(deferred), critical, ok, deleteAgent, later("10 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails again after the check recovered, its agent was deleted, and arrives at last",
    [
      answers(deferred),
      critical,
      ok,
      deleteAgent,
      later("10 seconds"),
      answers(delivered),
      later("1 minute"),
    ],
    ["firing sent", "resolved sent"],
  ],
]

/** These need the look for overdue checks. */
const overdueDepartures: ReadonlyArray<Case> = [
  [
    "fails after the overdue check was no longer expected",
    [...neverReported, declare(), later("5 seconds")],
    ["firing retry", "resolved pending"],
  ],
  [
    "fails after the overdue check was deleted",
    [...neverReported, deleteCheck, later("5 seconds")],
    ["firing discarded", "resolved discarded"],
  ],
]

const resolutions: ReadonlyArray<Case> = [
  ["was sent", [critical, ok], ["firing sent", "resolved sent"]],
  ["waits for a retry", [answers(deferred), critical, ok], ["firing retry", "resolved pending"]],
  ["was refused", [answers(refused), critical, ok], ["firing failed"]],
  [
    "was refused after a failed attempt",
    [answers(deferred), critical, answers(refused), later("10 seconds"), ok],
    ["firing failed"],
  ],
  [
    "is being sent, and is then refused",
    [answers(slowly(refused)), critical, ok, later("5 seconds")],
    ["firing failed", "resolved discarded"],
  ],
  [
    "is being sent, and then arrives",
    [answers(slowly(delivered)), critical, ok, later("10 seconds")],
    ["firing sent", "resolved sent"],
  ],
  [
    "was sent, and a higher severity was refused",
    [warning, answers(refused), critical, answers(delivered), ok],
    ["firing sent", "firing failed", "resolved sent"],
  ],
  [
    "failed for a day, so that one of its attempts may have arrived",
    [answers(deferred), critical, later("30 hours"), answers(delivered), ok],
    ["firing failed", "resolved sent"],
  ],
  [
    "was refused and replayed, and is being sent again",
    [answers(refused), critical, answers(deferred), replay, ok],
    ["firing retry", "resolved pending"],
  ],
  [
    "was refused, replayed, and refused again after the end",
    [answers(refused), critical, answers(slowly(refused)), replay, ok, later("5 seconds")],
    ["firing failed", "resolved discarded"],
  ],
]

describe("a firing whose attempt", () => {
  it.effect.each(departures)("%s", play)
  it.effect.each(overdueDepartures)("%s", playWith({ keepsHouse: true }))
})

describe("a resolved", () => {
  it.effect.each(resolutions)("whose firing %s", play)

  it.effect("goes to no receiver that refused its firing, though another one accepted it", () =>
    Effect.gen(function* () {
      const { after, disk, messenger, webhook } = yield* openTimeline({ notifiers: ["messenger", "webhook"] })
      yield* webhook.answers(slowly(refused))
      yield* disk.turns("critical")
      yield* disk.turns("ok")
      yield* webhook.answers(delivered)
      yield* after("10 seconds")
      yield* messenger.has("firing critical a/disk", "resolved critical a/disk")
      yield* webhook.has()
    }),
  )

  it.effect("waits for a dead letter that was replayed and not attempted since", () =>
    Effect.gen(function* () {
      const timeline = yield* openTimeline({ separateFront: true })
      const { service, process, front, disk, webhook, outbox, after } = timeline
      yield* webhook.answers(refused)
      yield* disk.turns("critical")
      yield* after("15 seconds")
      yield* process.close
      yield* front.operations.replay(outbox.item().id)
      yield* disk.turns("ok")
      yield* outbox.is("firing pending", "resolved pending")
      yield* webhook.answers(delivered)
      yield* service.open("second")
      yield* after(0)
      yield* webhook.has("firing critical a/disk", "resolved critical a/disk")
    }),
  )
})
