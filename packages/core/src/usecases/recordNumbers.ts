import { Duration, Effect, Latch } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { type Chore, repeatChore } from "../engine/commits/Chore.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { NumberMemory } from "./NumberMemory.ts"
import { HOURS_KEPT, PART_KINDS, type PartKind } from "../numbers/NumberPart.ts"

const WRITE_EVERY = Duration.minutes(5)
/** Results pour in: to take many together costs less, but to hold them costs the garbage collector. */
const TAKE_EVERY = Duration.millis(20)
const EXPIRE_EVERY = Duration.minutes(10)
const COMPLAIN_EVERY = Duration.hours(1)
const PIECE = 1_000
/** A stop does not wait for a storage that is away. */
const FAREWELL_WITHIN = Duration.seconds(2)

const COMPLAINTS = {
  check: "a check states more than 20 numbers, and others are not kept: use a plugin that states fewer",
  agent:
    "an agent has a tenth of all series of numbers, and others are not kept: raise SERVICE_NUMBERS_SERIES",
  all: "there are as many series of numbers as are allowed, and others are not kept: raise SERVICE_NUMBERS_SERIES",
} as const

/** When what is kept for a time was measured at the earliest; 1970 where it is kept for ever. */
const beforeNow = (kept: number) =>
  Effect.map(Instant.now, (now) => Math.max(0, Instant.toMillis(now) - kept))

/** Takes the numbers of committed results, writes them every five minutes and at the end, and removes old ones. */
export const recordNumbers = Effect.fnUntraced(function* (retention: Duration.Duration | undefined) {
  const memory = yield* NumberMemory
  const { numbers } = memory
  if (numbers === undefined) return
  const arrived = Latch.makeUnsafe()
  const { listen } = yield* Commits
  yield* listen({
    committed: ({ measured }) => {
      if (memory.add(measured)) arrived.openUnsafe()
    },
  })
  const take = Effect.sync(() => {
    arrived.closeUnsafe()
    memory.take()
  })
  const write = Effect.as(memory.write(numbers), false)
  yield* Effect.addFinalizer(() => write.pipe(Effect.timeoutOption(FAREWELL_WITHIN), Effect.ignore))
  yield* Effect.forkScoped(
    Effect.forever(arrived.await.pipe(Effect.andThen(Effect.sleep(TAKE_EVERY)), Effect.andThen(take))),
  )
  let complainedAt: Instant.Instant | undefined
  const forget = Effect.gen(function* () {
    const now = yield* Instant.now
    const complaints = yield* memory.forget
    if (complaints.length === 0) return
    if (complainedAt !== undefined && now < Instant.plus(complainedAt, COMPLAIN_EVERY)) return
    complainedAt = now
    for (const [bound, { agent_id, check_id, name }] of complaints)
      yield* Effect.annotateLogs(Effect.logWarning(COMPLAINTS[bound]), { agent_id, check_id, name })
  })
  const expire = Effect.fnUntraced(function* (kind: PartKind, kept: number) {
    return yield* numbers.expire({ kind, before: yield* beforeNow(kept), limit: PIECE })
  })
  const kept = retention === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(retention)
  const chores: ReadonlyArray<Chore> = [
    {
      name: "reading which series of numbers are stored",
      pause: Effect.sleep(EXPIRE_EVERY),
      piece: Effect.as(memory.load(numbers), false),
    },
    { name: "writing numbers", pause: idlePause(WRITE_EVERY), piece: Effect.ensuring(write, forget) },
    {
      name: "removing numbers after their retention",
      pause: Effect.sleep(EXPIRE_EVERY),
      piece: Effect.gen(function* () {
        // Days have what hours had, and a reader may be about to read the oldest ones.
        const hours = yield* expire("hour", HOURS_KEPT + 2 * PART_KINDS.hour.length)
        const days = yield* expire("day", kept)
        const late = yield* expire("late", kept)
        yield* numbers.expireSeries(yield* beforeNow(kept))
        return hours || days || late
      }),
    },
  ]
  for (const chore of chores) yield* Effect.forkScoped(repeatChore(chore))
})
