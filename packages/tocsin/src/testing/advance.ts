import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { MemoryTables } from "@tocsin/core/memory/MemoryTables"
import type { Storage } from "@tocsin/core/ports/Storage"
import { type Duration, Effect } from "effect"
import type { Settling } from "./Settling.ts"
import type { SteppedClock } from "./SteppedClock.ts"

/** What moves when a test monitor's clock does. */
interface Course {
  readonly clock: SteppedClock
  readonly settling: Settling
  readonly tables: MemoryTables
  /** The first moment from an instant on at which an idle loop can find something to do. */
  readonly dueFrom: (now: Instant.Instant) => Instant.Instant | undefined
}

const NANOS_PER_MICRO = 1_000n

/**
 * Moves the clock by so much, and stops wherever something is to be done on the way. What changes
 * between two stops is the mark alone: rounds in which loops find nothing are left out.
 */
export const advance = async (course: Course, nanos: bigint): Promise<void> => {
  const { clock, settling } = course
  const target = clock.currentTimeNanosUnsafe() + nanos
  await settling.settle()
  for (;;) {
    const due = course.dueFrom(Instant.fromNanos(clock.currentTimeNanosUnsafe()))
    const next = clock.nextWake(due === undefined ? undefined : due * NANOS_PER_MICRO)
    if (next === undefined || next > target) break
    await moveTo(course, next)
  }
  await moveTo(course, target)
}

const moveTo = async ({ clock, settling, tables }: Course, nanos: bigint): Promise<void> => {
  // The marks that their loop slept through: otherwise the time since the last one would be an
  // outage.
  if (clock.passesOver(nanos) && tables.mark !== undefined) {
    tables.mark = { ...tables.mark, marked_at: Instant.fromNanos(nanos) }
  }
  clock.moveTo(nanos)
  await settling.settle()
}

/** Where a test monitor's idle loops look. */
export interface IdleWork {
  readonly tables: MemoryTables
  /** The storage over these tables. */
  readonly storage: Storage["Service"]
  readonly notifiers: ReadonlyArray<NotifierName>
  /**
   * When a silent agent is dead; absent where nobody looks for dead agents, nor after deleted ones.
   */
  readonly deadAfter: Duration.Duration | undefined
}

/**
 * The first moment from `now` on at which an idle loop can find something to do if nobody else does
 * anything until then; nothing where it never will. A moment that is over is found until the loop
 * has done its work.
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
