import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { isHeld } from "@tocsin/core/model/OutboxRecord"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import type { Policy } from "@tocsin/core/policy/compilePolicy"
import type { Storage } from "@tocsin/core/ports/Storage"
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
    const next = clock.nextWake(due === undefined ? undefined : due * NANOS_PER_MICRO)
    if (next === undefined || next > target) break
    await moveTo(course, next)
  }
  await moveTo(course, target)
}

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
  readonly policy: () => Policy
  /** When a silent agent is dead; absent without housekeeping. */
  readonly deadAfter: Duration.Duration | undefined
}

/** The longest pause of a loop that looks for other silences and another policy. */
const ONE_ROUND = Duration.seconds(5)
/** After this, such loops have also seen other labels of agents. */
const ALL_LOOKS = Duration.sum(Duration.minutes(5), ONE_ROUND)

/**
 * Whether loops may still find what a test did before an advance: it may have changed silences, the
 * policy and what agents say of themselves.
 */
const mayFindLog = ({ policy, tables }: IdleWork, now: Instant.Instant, began: Instant.Instant): boolean => {
  if (now < Instant.plus(began, ONE_ROUND)) return true
  if (now >= Instant.plus(began, ALL_LOOKS)) return false
  return policy().freshness.readsAgents || Array.from(tables.keyed.outbox.values()).some(isHeld)
}

/** When open incidents, held notifications and expected checks are evaluated next. */
function* evaluationTimes(tables: MemoryTables) {
  for (const { next_evaluation_at } of tables.keyed.expectation.values())
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
 * The first moment from `now` on at which an idle loop finds work, or none, in an advance that `began`
 * at a moment. A past moment counts until the loop has done its work.
 */
export const nextDue = Effect.fnUntraced(function* (
  idle: IdleWork,
  now: Instant.Instant,
  began: Instant.Instant,
) {
  const { deadAfter, notifiers, storage, tables } = idle
  const untilDue = yield* storage.untilNextDue(notifiers(), now)
  const moments = untilDue === undefined ? [] : [Instant.plus(now, untilDue)]
  if (deadAfter !== undefined) {
    if (tables.removedRegistrations.size > 0) moments.push(now)
    if (mayFindLog(idle, now, began)) moments.push(now)
    moments.push(...evaluationTimes(tables))
    for (const id of yield* storage.staleAgents(now, Infinity)) {
      const agent = tables.agents.get(id)
      if (agent !== undefined) moments.push(Instant.plus(agent.last_seen_at, deadAfter))
    }
  }
  return Instant.earliest(moments)
})
