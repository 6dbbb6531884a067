import type { NotifierName } from "@tocsin/core/contract/Status"
import * as Instant from "@tocsin/core/contract/Instant"
import type { MemoryTables } from "@tocsin/core/memory/MemoryTables"
import type { Storage } from "@tocsin/core/ports/Storage"
import { type Duration, Effect } from "effect"

/** Where a test monitor's idle loops look. */
export interface IdleWork {
  readonly tables: MemoryTables
  /** The storage over these tables. */
  readonly storage: Storage["Service"]
  readonly notifiers: ReadonlyArray<NotifierName>
  /** When a silent agent is dead; absent where nobody looks for dead agents, nor after deleted ones. */
  readonly deadAfter: Duration.Duration | undefined
}

/**
 * The first moment from `now` on at which an idle loop can find something to do if nobody else does anything until then;
 * nothing where it never will. A moment that is over is found until the loop has done its work.
 */
export const nextDue = Effect.fnUntraced(function* (
  { tables, storage, notifiers, deadAfter }: IdleWork,
  now: Instant.Instant,
) {
  const untilDue = yield* storage.untilNextDue(notifiers, now)
  const moments = untilDue === undefined ? [] : [Instant.plus(now, untilDue)]
  if (deadAfter !== undefined) {
    if (tables.removedRegistrations.size > 0) moments.push(now)
    for (const id of yield* storage.silentAgents(now, Infinity)) {
      const agent = tables.agents.get(id)
      if (agent !== undefined) moments.push(Instant.plus(agent.last_seen_at, deadAfter))
    }
  }
  return moments.length === 0 ? undefined : moments.reduce(Instant.min)
})
