import { Duration, Effect, Fiber } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { commandOf, type Decision } from "../../kernel/unitOfWork/Decision.ts"
import { type Claim, isSending } from "./recordResults.ts"

/** Moves the ends of claims whose attempts still run; returns those that still hold. */
const renewClaims = commandOf(function* (
  unit,
  { by, claims }: { readonly claims: ReadonlyArray<Claim>; readonly by: Duration.Duration },
): Decision<ReadonlyArray<Claim>> {
  const outbox = claims.map(({ id }) => id).filter((id) => !unit.outbox.isLoaded(id))
  if (outbox.length > 0) yield { rows: { outbox } }
  return claims.flatMap((claim) => {
    const item = unit.outbox.get(claim.id)
    if (!isSending(item) || item.leased_until !== claim.leased_until) return []
    const leased_until = item.leased_until && Instant.plus(item.leased_until, by)
    unit.outbox.put({ ...item, leased_until })
    return [{ ...claim, leased_until }]
  })
})

/** The claims of an attempt; their leases move while it runs. */
export interface Held {
  claims: ReadonlyArray<Claim>
}

/** Returns a function that runs an attempt; if the attempt `mayOutlast` a lease, its claims are renewed meanwhile. */
export const makeKeepClaims = Effect.fnUntraced(function* (lease: Duration.Duration) {
  const commits = yield* Commits
  const third = Duration.divideUnsafe(lease, 3)
  const renew = Effect.fnUntraced(function* (held: Held) {
    let from = yield* Instant.now
    while (held.claims.length > 0) {
      yield* Effect.sleep(third)
      const now = yield* Instant.now
      // By a lease at most, where a clock was set ahead.
      const by = Duration.clamp(Duration.micros(now - from), { minimum: Duration.zero, maximum: lease })
      const renewing = Effect.map(commits.transact(renewClaims({ claims: held.claims, by })), (claims) => {
        held.claims = claims
        from = now
      })
      // A commit that is not noted would make the attempt's result count as another claim's.
      yield* Effect.uninterruptible(Effect.ignore(renewing))
    }
  })
  return Effect.fnUntraced(function* <A>(held: Held, attempt: Effect.Effect<A>, mayOutlast = false) {
    if (!mayOutlast) return yield* attempt
    const renewing = yield* Effect.forkChild(Effect.interruptible(renew(held)))
    const made = yield* attempt
    yield* Fiber.interrupt(renewing)
    return made
  })
})
