import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { evaluatedNames, plannedNames } from "@tocsin/core/lists/StoredTables"
import { Duration, Effect } from "effect"
import type { Settling } from "./Settling.ts"
import type { SteppedClock } from "./SteppedClock.ts"

interface Course {
  readonly clock: SteppedClock
  readonly settling: Settling
  readonly tables: MemoryTables
  /** The next moment at which an idle loop finds work, in an advance that began at a moment. */
  readonly dueFrom: (now: Instant.Instant, began: Instant.Instant) => Instant.Instant | undefined
}

const NANOS_PER_MICRO = 1_000n

/**
 * Moves the clock and stops wherever something is due. It skips rounds in which loops find nothing,
 * which change only the service heartbeat.
 */
export const advance = async (course: Course, nanos: bigint): Promise<void> => {
  const { clock, settling } = course
  const target = clock.currentTimeNanosUnsafe() + nanos
  await settling.settle()
  const began = Instant.fromNanos(clock.currentTimeNanosUnsafe())
  for (;;) {
    const due = course.dueFrom(Instant.fromNanos(clock.currentTimeNanosUnsafe()), began)
    // At the end, each loop has run its last round before it: the report of this process is no older.
    const next = clock.nextWake(least(target, due === undefined ? target : due * NANOS_PER_MICRO))
    if (next === undefined || next > target) break
    await moveTo(course, next)
  }
  await moveTo(course, target)
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const moveTo = async ({ clock, settling, tables }: Course, nanos: bigint): Promise<void> => {
  // The skipped service heartbeats: without them, the time since the last one would be an outage.
  const { service_heartbeat } = tables.keyed
  const last = service_heartbeat.get("service")
  if (clock.passesOver(nanos) && last !== undefined)
    service_heartbeat.set("service", { ...last, beat_at: Instant.fromNanos(nanos) })
  clock.moveTo(nanos)
  await settling.settle()
}

/** Moves the clock to the end of the shortest wait, if what runs now does not come to an end without. */
export const skipWait = async ({ clock, settling }: Pick<Course, "clock" | "settling">): Promise<void> => {
  await settling.settle()
  const next = clock.nextWake(undefined)
  if (next !== undefined) clock.moveTo(next)
}

/** The inputs of idle loops. */
export interface IdleWork {
  readonly tables: MemoryTables
  readonly storage: Storage["Service"]
  readonly notifiers: () => ReadonlyArray<NotifierName>
  /** When a silent agent is stale, and dead; absent without housekeeping. */
  readonly silent: Pick<RuleOptions, "staleAfter" | "deadAfter"> | undefined
}

/** After this, each loop has looked at all that it compares: at labels last, every five minutes. */
const ALL_LOOKS = Duration.sum(Duration.minutes(5), Duration.seconds(5))

/** Moments that loops may notice in {@link ALL_LOOKS}: the latest change, and those that time alone brings. */
function* turns({ silent, tables }: IdleWork, changed: Instant.Instant) {
  yield changed
  for (const name of plannedNames)
    for (const { ends_at, starts_at } of tables.keyed[name].values())
      yield* ends_at === undefined ? [starts_at] : [starts_at, ends_at]
  if (silent === undefined) return
  for (const { last_seen_at } of tables.agents.values()) yield Instant.plus(last_seen_at, silent.staleAfter)
}

/** When open incidents, held notifications and expected checks are evaluated next, and rows of no agent removed. */
function* evaluationTimes(tables: MemoryTables, now: Instant.Instant) {
  if (tables.removedRegistrations.size > 0) yield now
  for (const name of evaluatedNames)
    for (const { next_evaluation_at } of tables.keyed[name].values())
      if (next_evaluation_at !== undefined) yield next_evaluation_at
  for (const open of Object.values(tables.openIncidents)) {
    for (const id of open.values()) {
      const at = tables.incidents.get(id)?.next_evaluation_at
      if (at !== undefined) yield at
      for (const { next_evaluation_at } of tables.keyed.outbox.of("incident_id", id))
        if (next_evaluation_at !== undefined) yield next_evaluation_at
    }
  }
}

/**
 * The first moment from `now` on at which an idle loop finds work, or none. All loops run every round for
 * {@link ALL_LOOKS} after each of {@link turns}, so that none can be forgotten here. A past moment counts until the
 * loop has done its work.
 */
export const nextDue = Effect.fnUntraced(function* (
  idle: IdleWork,
  now: Instant.Instant,
  changed: Instant.Instant,
) {
  const { notifiers, silent, storage, tables } = idle
  const untilDue = yield* storage.untilNextDue(notifiers(), now)
  const moments = untilDue === undefined ? [] : [Instant.plus(now, untilDue)]
  for (const turn of turns(idle, changed))
    if (now < Instant.plus(turn, ALL_LOOKS)) moments.push(Instant.max(turn, now))
  if (silent !== undefined) {
    moments.push(...evaluationTimes(tables, now))
    for (const id of yield* storage.staleAgents(now, Infinity)) {
      const agent = tables.agents.get(id)
      if (agent !== undefined) moments.push(Instant.plus(agent.last_seen_at, silent.deadAfter))
    }
  }
  return Instant.earliest(moments)
})
