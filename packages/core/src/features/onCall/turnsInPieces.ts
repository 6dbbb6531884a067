import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { addTurns, type Turn, turnsBetween } from "../../heart/policy/onCall.ts"

/** Days that are computed in one turn of the event loop: some milliseconds, where a rota changes each hour. */
const DAYS_TOGETHER = Duration.days(8)

/** {@link turnsBetween}, in pieces between which results pass. */
export const turnsInPieces = Effect.fnUntraced(function* (
  ...[rotas, name, overrides, { from, most, to }]: Parameters<typeof turnsBetween>
) {
  const turns: Array<Turn> = []
  for (let at = from; at < to;) {
    const until = Instant.min(Instant.plus(at, DAYS_TOGETHER), to)
    const following = turnsBetween(rotas, name, overrides, { from: at, to: until, most })
    addTurns(turns, following ?? [])
    if (following === undefined || turns.length > most) return undefined
    at = until
    yield* Effect.yieldNow
  }
  return turns
})
