import { Duration, Effect } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import { type ManyAgents, reportPassedOver } from "../metrics/reportPassedOver.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import type { Command } from "../workspace/Decision.ts"
import type { WorkOnMany } from "../workspace/passHeldAgents.ts"

/** A heartbeat that is under way holds its agent for some milliseconds; what holds it for longer than a second hangs. */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

/** Some work on many agents. */
interface Work {
  readonly name: ManyAgents
  readonly piece: (agents: ReadonlyArray<AgentId>) => Command<WorkOnMany>
  /** How many agents one piece takes. */
  readonly limit: number
}

/** Goes back to agents that work passed over, for a second. Reports those that are held all the time. Returns how many counted. */
export const finishHeld = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { limit, name, piece }: Work,
  held: ReadonlyArray<AgentId>,
): Effect.fn.Return<number, StorageError> {
  let count = 0
  let left = held
  for (let look = 1; left.length > 0 && look <= LOOKS; look++) {
    yield* Effect.sleep(BETWEEN_LOOKS)
    const still: Array<AgentId> = []
    for (let at = 0; at < left.length; at += limit) {
      const result = yield* storage.transact(piece(left.slice(at, at + limit)))
      count += result.count
      still.push(...result.held)
    }
    left = still
  }
  yield* reportPassedOver(name, left)
  return count
})
