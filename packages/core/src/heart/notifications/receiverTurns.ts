import { Duration, Effect, type Fiber, Latch, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { LinkedQueue } from "../../kernel/engine/LinkedQueue.ts"

/** Turns at a receiver, as many at the same time as it allows, for as long as the caller runs. */
export const makePermits = Effect.fnUntraced(function* (concurrency: () => number) {
  const permits = Semaphore.makeUnsafe(concurrency())
  const waiting = new LinkedQueue<{
    readonly fiber: Fiber.Fiber<unknown, unknown>
    readonly beginBy: Instant.Instant
  }>()
  const isAnyWaiting = Latch.makeUnsafe()
  const interruptLate = Effect.gen(function* () {
    yield* isAnyWaiting.await
    const { first } = waiting
    if (first === undefined) return isAnyWaiting.closeUnsafe()
    const left = Duration.micros(first.beginBy - (yield* Instant.now))
    if (Duration.isGreaterThan(left, Duration.zero)) return yield* Effect.sleep(left)
    waiting.take()
    return first.fiber.interruptUnsafe()
  })
  yield* Effect.forkChild(Effect.forever(interruptLate))
  return {
    /** Runs an effect when its turn comes; interrupts the fiber if that is not by `beginBy`. */
    take: <A>(effect: Effect.Effect<A>, beginBy: Instant.Instant | undefined): Effect.Effect<A> =>
      Effect.withFiber((fiber) => {
        if (beginBy === undefined) return permits.withPermit(effect)
        const place = waiting.add({ fiber, beginBy })
        isAnyWaiting.openUnsafe()
        const leave = Effect.sync(() => place.leave())
        return Effect.ensuring(permits.withPermit(Effect.andThen(leave, effect)), leave)
      }),
    resize: Effect.suspend(() => permits.resize(concurrency())),
  }
})
