import { CheckId, type OutboxId } from "@tocsin/core/contract/Identifiers"
import type { CheckStatus } from "@tocsin/core/contract/Status"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { itemsOf, statesOf } from "./outboxOf.ts"
import { type Answer, deferred, delivered, makeReceivers, refused } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { settled } from "./settled.ts"
import { openSite } from "./Site.ts"

const slowly = (answer: Answer): Answer => ({ ...answer, answeringMillis: 5_000 })

type Step =
  | { readonly answer: Answer }
  | { readonly says: CheckStatus }
  | { readonly replays: number }
  | { readonly waits: Duration.Input }
  | { readonly removes: "agent" | "check" }

const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const receiver: { answer: Answer } = { answer: delivered }
  const receivers = makeReceivers({ answerTo: () => receiver.answer })
  const site = yield* openSite({ receivers, notifiers: ["webhook"], deadAfter: Duration.days(30) })
  const process = yield* site.open("first")
  yield* enroll(process, AGENT)
  const idAt = (at: number): OutboxId => itemsOf(site)[at]?.id ?? assert.fail("there is no such item")
  for (const step of steps) {
    if ("answer" in step) receiver.answer = step.answer
    else if ("says" in step) yield* report(process, [{ check: "disk", status: step.says }])
    else if ("replays" in step) yield* process.operations.replay(idAt(step.replays))
    else if ("waits" in step) yield* TestClock.adjust(step.waits)
    else if (step.removes === "agent") yield* process.admission.remove(AGENT)
    else yield* process.operations.removeCheck({ agent_id: AGENT, check_id: CheckId.make("disk") })
    yield* settled
  }
  return statesOf(site)
})

const [critical, warning, ok] = [{ says: "critical" }, { says: "warning" }, { says: "ok" }] as const

/** What becomes of the resolved, by what became of the firings before it. */
const cases: ReadonlyArray<readonly [firing: string, ReadonlyArray<Step>, states: ReadonlyArray<string>]> = [
  ["was sent", [critical, ok], ["firing sent", "resolved sent"]],
  ["is to be retried", [{ answer: deferred }, critical, ok], ["firing retry", "resolved pending"]],
  ["was refused", [{ answer: refused }, critical, ok], ["firing failed"]],
  [
    "was refused after an attempt that failed",
    [{ answer: deferred }, critical, { answer: refused }, { waits: "10 seconds" }, ok],
    ["firing failed"],
  ],
  [
    "is being sent, and is refused then",
    [{ answer: slowly(refused) }, critical, ok, { waits: "5 seconds" }],
    ["firing failed", "resolved discarded"],
  ],
  [
    "is being sent, and arrives",
    [{ answer: slowly(delivered) }, critical, ok, { waits: "10 seconds" }],
    ["firing sent", "resolved sent"],
  ],
  [
    "was sent, and a later one of a higher severity refused",
    [warning, { answer: refused }, critical, { answer: delivered }, ok],
    ["firing sent", "firing failed", "resolved sent"],
  ],
  [
    "was given up after a day: one of its attempts may have arrived",
    [{ answer: deferred }, critical, { waits: "30 hours" }, { answer: delivered }, ok],
    ["firing failed", "resolved sent"],
  ],
  [
    "was refused and replayed, and is being sent again",
    [{ answer: refused }, critical, { answer: deferred }, { replays: 0 }, ok],
    ["firing retry", "resolved pending"],
  ],
  [
    "was refused, replayed, and refused again after the end",
    [{ answer: refused }, critical, { answer: slowly(refused) }, { replays: 0 }, ok, { waits: "5 seconds" }],
    ["firing failed", "resolved discarded"],
  ],
]

const [removeAgent, removeCheck] = [{ removes: "agent" }, { removes: "check" }] as const
const inTime = { waits: "5 seconds" } as const

/** What becomes of a firing that is being sent while its agent goes. */
const departures: ReadonlyArray<
  readonly [attempt: string, ReadonlyArray<Step>, states: ReadonlyArray<string>]
> = [
  [
    "fails after the agent was deleted",
    [{ answer: slowly(deferred) }, critical, removeAgent, inTime],
    ["firing discarded", "resolved discarded"],
  ],
  [
    "fails after the check was deleted",
    [{ answer: slowly(deferred) }, critical, removeCheck, inTime],
    ["firing discarded", "resolved discarded"],
  ],
  [
    "fails after a lower severity was sent and the agent was deleted",
    [warning, { answer: slowly(deferred) }, critical, removeAgent, { answer: delivered }, inTime],
    ["firing sent", "firing discarded", "resolved sent"],
  ],
  [
    "is refused after the agent was deleted",
    [{ answer: slowly(refused) }, critical, removeAgent, inTime],
    ["firing failed", "resolved discarded"],
  ],
  [
    "succeeds after the agent was deleted",
    [{ answer: slowly(delivered) }, critical, removeAgent, { answer: delivered }, inTime],
    ["firing sent", "resolved sent"],
  ],
  [
    "fails after the check recovered",
    [{ answer: slowly(deferred) }, critical, ok, inTime],
    ["firing retry", "resolved pending"],
  ],
]

describe("a firing whose attempt", () => {
  it.effect.each(departures)("%s", ([, steps, states]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* play(steps), states)
    }),
  )
})

describe("a resolved", () => {
  it.effect.each(cases)("where the firing %s", ([, steps, states]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* play(steps), states)
    }),
  )

  it.effect("follows a dead letter that was replayed and not attempted since, which is sent before it", () =>
    Effect.gen(function* () {
      const receiver: { answer: Answer } = { answer: refused }
      const receivers = makeReceivers({ answerTo: () => receiver.answer })
      const site = yield* openSite({ receivers, notifiers: ["webhook"] })
      const front = yield* site.open("front", { delivers: false })
      const sender = yield* site.open("sender")
      yield* enroll(front, AGENT)
      yield* report(front, [{ check: "disk", status: "critical" }])
      yield* TestClock.adjust("1 second")
      yield* settled
      yield* sender.close
      yield* front.operations.replay(itemsOf(site)[0]?.id ?? assert.fail("there is no firing"))
      yield* report(front, [{ check: "disk", status: "ok" }])
      assert.deepStrictEqual(statesOf(site), ["firing pending", "resolved pending"])
      receiver.answer = delivered
      yield* site.open("second sender")
      yield* settled
      assert.deepStrictEqual(
        receivers.arrivals.map(({ notification }) => notification.event_type),
        ["firing", "resolved"],
      )
    }),
  )
})
