import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Duration, Effect, Fiber, Random } from "effect"
import { TestClock } from "effect/testing"
import { deliveryLaws } from "./laws.ts"
import { delivered } from "../service/Receivers.ts"
import { AGENT, enroll, report } from "../service/agents.ts"
import type { OutboxStory, Step } from "./OutboxStory.ts"
import { openService, type Process, type Service } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NOTIFIERS: ReadonlyArray<NotifierName> = ["webhook", "messenger"]
const MOST_PROCESSES = 3
/** Longer than the longest wait that the steps and answers of a scenario can lead to. */
const MINUTES_TO_THE_END = 6 * 60

/** The outcome of a scenario. */
export interface Course {
  readonly service: Service
  /** Which laws were broken, in words. */
  readonly broken: ReadonlyArray<string>
}

interface Running {
  readonly process: Process
  /** Whether a fault may have kept it from releasing its items. */
  isSpoilt: boolean
}

/** Plays a scenario, ends all faults, and moves the clock until every item has ended. */
export const play = (scenario: OutboxStory) => Random.withSeed(run(scenario), scenario.seed)

const run = Effect.fnUntraced(function* ({ processes, steps, answers, latencies, hints }: OutboxStory) {
  const closing = new Set<string>()
  let answered = 0
  let isWell = false
  const laws = deliveryLaws({ service: () => service, isClosing: (client) => closing.has(client) })
  const service: Service = yield* openService({
    answerTo: () => (isWell ? undefined : answers[answered++ % answers.length]) ?? delivered,
    onAttempt: laws.onAttempt,
    onMove: laws.onMove,
    notifiers: NOTIFIERS,
    hints,
  })
  const items = () => Array.from(service.rows().outbox.values())
  const front = yield* service.open("front", { delivers: false })
  yield* enroll(front, AGENT)

  let running: ReadonlyArray<Running> = []
  let opened = 0
  const open = Effect.gen(function* () {
    opened += 1
    const process = yield* service.open(`process ${opened}`)
    process.faults.latencies = latencies.slice(opened - 1)
    running = [...running, { process, isSpoilt: false }]
  })
  const pick = (which: number): Running | undefined => running[which % running.length]

  const stop = Effect.fnUntraced(function* (one: Running, isCrash: boolean) {
    const { process, isSpoilt } = one
    running = running.filter((other) => other !== one)
    closing.add(process.name)
    if (isCrash) {
      service.receivers.cutOff(process.name)
      process.faults.isUnreachable = true
    }
    const held = () =>
      items().filter((item) => {
        const claim = service.moves.findLast(({ after }) => after.id === item.id)
        return item.state === "sending" && claim?.client === process.name
      })
    const check = Effect.sync(() => {
      if (isCrash || isSpoilt || one.isSpoilt) return
      for (const item of held()) laws.broken.push(`${process.name} stopped and kept the lease of ${item.id}`)
    })
    return yield* Effect.forkScoped(Effect.andThen(process.close, check))
  })
  const disturb = Effect.fnUntraced(function* (
    one: Running,
    seconds: number,
    fault: "isUnreachable" | "losesReplies",
  ) {
    one.isSpoilt = true
    one.process.faults[fault] = true
    const isOver = Effect.sync(() => {
      if (!closing.has(one.process.name)) one.process.faults[fault] = false
    })
    yield* Effect.forkScoped(Effect.andThen(Effect.sleep(seconds * 1_000), isOver))
  })

  /** Time passes while nothing runs: two minutes within a transaction would end every lease. */
  const passes = (time: Duration.Input) => Effect.andThen(settled, TestClock.adjust(time))
  const closings: Array<Fiber.Fiber<void>> = []
  const take = Effect.fnUntraced(function* (step: Step) {
    switch (step.step) {
      case "report":
        return yield* report(front, [step])
      case "wait":
        return yield* passes(step.millis)
      case "remove":
        yield* front.admission.remove(AGENT)
        return yield* enroll(front, AGENT)
      case "replay": {
        const failed = items().filter((item) => item.state === "failed")
        const item = failed[step.which % failed.length]
        return item && (yield* Effect.ignore(front.operations.replay(item.id)))
      }
      case "open":
        return running.length < MOST_PROCESSES ? yield* open : undefined
      case "close":
      case "crash": {
        const one = pick(step.which)
        return one && closings.push(yield* stop(one, step.step === "crash"))
      }
      case "unreachable":
      case "lose_replies": {
        const one = pick(step.which)
        return (
          one &&
          (yield* disturb(one, step.seconds, step.step === "unreachable" ? "isUnreachable" : "losesReplies"))
        )
      }
    }
  })

  for (let count = 0; count < processes; count++) yield* open
  for (const step of steps) yield* take(step)
  isWell = true
  if (running.length === 0) yield* open
  const isOver = () => items().every((item) => ["sent", "failed", "discarded"].includes(item.state))
  // All faults and shutdowns end, and no command is still on its way to the storage.
  yield* passes("2 minutes")
  for (const { process } of running) process.faults.latencies = []
  yield* passes("10 seconds")
  for (let minutes = 0; !isOver() && minutes < MINUTES_TO_THE_END; minutes += 5) yield* passes("5 minutes")
  for (const item of items()) {
    if (!["sent", "failed", "discarded"].includes(item.state))
      laws.broken.push(`${item.id} ends ${item.state}`)
  }
  yield* Fiber.awaitAll(closings)
  const course: Course = { service, broken: laws.broken }
  return course
})
