import { Duration, Effect, Latch, Layer, Option } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Chore, repeatChore } from "../../kernel/engine/commits/Chore.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { Readiness } from "../../heart/health/Readiness.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { NumberMemory } from "./NumberMemory.ts"

const WRITE_EVERY = Duration.minutes(5)
/** Results pour in: to take many together costs less, but to hold them costs the garbage collector. */
const TAKE_EVERY = Duration.millis(20)
/** Where many old results come, before the five minutes are over. */
const WRITE_SOON = Duration.seconds(1)
const LOAD_EVERY = Duration.minutes(10)
const COMPLAIN_EVERY = Duration.hours(1)
/** A stop does not wait for a storage that is away. Most was written while requests ended. */
const FAREWELL_WITHIN = Duration.seconds(2)

const COMPLAINTS = {
  check:
    "a check states more than 20 numbers, and others are not kept: choose them by numbers in the configuration of its agent, or in the options of its integration",
  agent:
    "an agent has a tenth of all series of numbers, and others are not kept: raise SERVICE_NUMBERS_SERIES",
  changing:
    "the names of a check's numbers change from run to run, so that those of former runs take the places of others: use labels without a process or a pod",
  all: "there are as many series of numbers as are allowed, and others are not kept: raise SERVICE_NUMBERS_SERIES",
} as const

const NOT_WRITTEN =
  "the storage did not take all numbers before the stop, and the last ones are lost: look at its load; results are not affected"

/** Takes the numbers of committed results, and writes them every five minutes, when the service drains and at the end. */
export const recordNumbers = Layer.effectDiscard(
  Effect.gen(function* () {
    const memory = yield* NumberMemory
    const { numbers } = memory
    if (numbers === undefined) return
    const arrived = Latch.makeUnsafe()
    const crowded = Latch.makeUnsafe()
    const { listen } = yield* Commits
    yield* listen({
      committed: ({ measured }) => {
        if (memory.add(measured)) arrived.openUnsafe()
      },
    })
    const take = Effect.sync(() => {
      arrived.closeUnsafe()
      memory.take()
      if (memory.isCrowded()) crowded.openUnsafe()
    })
    const write = memory.write(numbers)
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* write.pipe(Effect.timeoutOption(FAREWELL_WITHIN), Effect.ignore)
        const lost = yield* memory.abandon
        if (lost > 0) yield* Effect.annotateLogs(Effect.logWarning(NOT_WRITTEN), { lost })
      }),
    )
    yield* Effect.forkScoped(
      Effect.forever(arrived.await.pipe(Effect.andThen(Effect.sleep(TAKE_EVERY)), Effect.andThen(take))),
    )
    const readiness = yield* Effect.serviceOption(Readiness)
    if (Option.isSome(readiness))
      yield* Effect.forkScoped(Effect.ignore(Effect.andThen(readiness.value.draining, write)))
    const forget = complainSeldom(memory.forget)
    const soon = Effect.andThen(crowded.await, Effect.sleep(WRITE_SOON))
    const chores: ReadonlyArray<Chore> = [
      {
        name: "reading which series of numbers are stored",
        pause: Effect.sleep(LOAD_EVERY),
        piece: Effect.as(memory.load(numbers), false),
      },
      {
        name: "writing numbers",
        pause: Effect.raceFirst(idlePause(WRITE_EVERY), soon),
        piece: Effect.sync(() => crowded.closeUnsafe()).pipe(
          Effect.andThen(write),
          Effect.as(false),
          Effect.ensuring(forget),
        ),
      },
    ]
    for (const chore of chores) yield* Effect.forkScoped(repeatChore(chore))
  }),
)

/** Logs an hour's first complaint of each pass that has some. */
const complainSeldom = (forget: NumberMemory["Service"]["forget"]): Effect.Effect<void> => {
  let complainedAt: Instant.Instant | undefined
  return Effect.gen(function* () {
    const now = yield* Instant.now
    const complaints = yield* forget
    if (complaints.length === 0) return
    if (complainedAt !== undefined && Instant.isRecent(complainedAt, COMPLAIN_EVERY, now)) return
    complainedAt = now
    for (const [bound, { agent_id, check_id, name }] of complaints)
      yield* Effect.annotateLogs(Effect.logWarning(COMPLAINTS[bound]), { agent_id, check_id, name })
  })
}
