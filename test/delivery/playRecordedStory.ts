import { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import type { DeliveryAttempt } from "@tocsin/core/ports/Notifiers"
import { START_MILLIS, keyOf } from "@tocsin/testing/samples"
import { Clock, Duration, Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { enroll, heartbeat, report } from "../service/agents.ts"
import { type Answer, deferred, delivered, refused, throwing, timedOut } from "../service/Receivers.ts"
import { openService, type Process, type Service, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { ShiftedClock } from "../service/ShiftedClock.ts"
import { AGENTS, RECEIVERS, type RecordedStep } from "./RecordedStory.ts"

/** The rows and messages of a story at its end, one a line, sorted. */
export interface RecordedCourse {
  readonly rows: ReadonlyArray<string>
  readonly messages: ReadonlyArray<string>
}

const ANSWERS: Record<Extract<RecordedStep, { step: "answers" }>["answer"], Answer> = {
  delivered,
  deferred,
  refused,
  throws: throwing,
  late: { ...timedOut, answeringMillis: 9_000 },
}

/** Less than an agent may be silent. */
const BETWEEN_HEARTBEATS = 240
const SECONDS_OF_THE_END = 1_200
/** Background work that runs every few seconds would take most of the time of a story. */
const IDLE = Duration.seconds(45)

// The fields of the first recording: a new column changes no line.
const OF_INCIDENT = [
  ...(["kind", "incident_key", "state", "severity", "agent_id", "check_id"] as const),
  ...(["opener_agent_id", "opener_check_id", "opened_at", "resolved_at", "resolved_by", "summary"] as const),
  ...(["member_changes", "members_warning", "members_unknown", "members_critical"] as const),
  ...(["ack_by", "ack_until", "next_evaluation_at", "log_entries"] as const),
] satisfies ReadonlyArray<keyof IncidentRecord>

const OF_MEMBER = [
  ...(["agent_id", "check_id", "severity", "change_seq", "summary"] as const),
  ...(["joined_at", "is_loud", "left_at"] as const),
] satisfies ReadonlyArray<keyof MemberRecord>

const OF_CHANGE = [
  ...(["seq", "changed_at", "change", "agent_id", "check_id", "severity"] as const),
  "incident_severity",
] satisfies ReadonlyArray<keyof IncidentChangeRecord>

const OF_ITEM = [
  ...(["receiver", "notifier", "created_at", "event_type", "state", "cause", "incident_seq"] as const),
  ...(["severity", "summary", "attempts", "first_attempted_at", "next_attempt_at"] as const),
  ...(["next_evaluation_at", "released_at", "last_error", "age_starts_at", "updated_at"] as const),
] satisfies ReadonlyArray<keyof OutboxRecord>

const OF_MESSAGE = [
  ...(["receiver", "notifier", "event_type", "cause", "severity", "summary", "created_at"] as const),
  ...(["age_starts_at", "due_at", "acknowledgement", "attempt"] as const),
] satisfies ReadonlyArray<keyof DeliveryAttempt>

const textOf = (value: unknown): string =>
  typeof value === "bigint" ? String(value) : value === undefined ? "-" : JSON.stringify(value)

const line = <Row, const Field extends keyof Row>(
  name: string,
  row: Row,
  fields: ReadonlyArray<Field>,
): string => [name, ...fields.map((field) => `${String(field)}=${textOf(row[field])}`)].join(" ")

const courseOf = ({ receivers, rows }: Service): RecordedCourse => {
  const { incidents, members, outbox, scenarios } = rows()
  // An ID that is drawn in addition changes all later IDs, but no order of openings.
  const names = new Map(Array.from(incidents.keys(), (id, at) => [id, `incident ${at}`]))
  const name = (id: string) => names.get(id) ?? "no incident"
  return {
    rows: [
      ...Array.from(incidents.values(), (row) => line(name(row.id), row, OF_INCIDENT)),
      ...Array.from(members.values(), (row) => line(`member of ${name(row.incident_id)}`, row, OF_MEMBER)),
      ...scenarios.map((row) => line(`change of ${name(row.incident_id)}`, row, OF_CHANGE)),
      ...Array.from(outbox.values(), (row) => line(`item of ${name(row.incident_id)}`, row, OF_ITEM)),
    ].toSorted(),
    messages: [
      ...receivers.attempts.map(({ endedAt, notification, startedAt }) =>
        line(
          `${startedAt} to ${endedAt}: attempt for ${name(notification.incident.id)}`,
          { ...notification, members: notification.incident.members },
          [...OF_MESSAGE, "members"],
        ),
      ),
      ...receivers.arrivals.map(({ at, notification }) =>
        line(`${at}: arrival of ${name(notification.incident.id)}`, notification, OF_MESSAGE),
      ),
      ...receivers.repeats.map(({ alerts, at }) => {
        const ended = ({ ended_at, severity }: (typeof alerts)[number]["alert"]) => `${severity} ${ended_at}`
        const each = alerts.map(({ alert }) => `${name(alert.incident_id)} ${ended(alert)}`)
        return `${at}: repeat of ${each.toSorted().join(", ")}`
      }),
    ].toSorted(),
  }
}

/** Retries follow the schedule exactly, so that their order of drawing does not count. */
const noJitter = Random.Random.of({ nextIntUnsafe: () => 0, nextDoubleUnsafe: () => 0.5 })

/** Plays a story without a policy, an acknowledgement and a silence. */
export const playRecordedStory = Effect.fnUntraced(
  function* (steps: ReadonlyArray<RecordedStep>) {
    const service = yield* openService({ notifiers: RECEIVERS, idleFor: IDLE })
    yield* TestClock.setTime(START_MILLIS)
    const testClock = yield* TestClock.testClockWith(Effect.succeed)
    const clock = new ShiftedClock(testClock)
    const byTheirClock = Effect.provideService(Clock.Clock, clock)
    const alive = new Set<string>(AGENTS)
    let opened = 0
    const open = Effect.suspend(() => service.open(`process ${(opened += 1)}`, { keepsHouse: true })).pipe(
      Effect.tap(settled),
      byTheirClock,
    )
    let running: Process = yield* open
    yield* byTheirClock(enroll(running, ...AGENTS.map((id) => AgentId.make(id))))

    /** The work of the steps before it ends at their instant: the clock would move while it is under way. */
    const adjust = (seconds: number) =>
      Effect.all([settled, TestClock.adjust(Duration.millis(seconds * 1_000)), settled], {
        discard: true,
      }).pipe(Effect.provideService(Clock.Clock, testClock))
    const beats = Effect.suspend(() =>
      Effect.forEach(alive, (id) => Effect.ignore(heartbeat(running, AgentId.make(id))), { discard: true }),
    ).pipe(byTheirClock)
    /** Agents that are alive send a heartbeat every few minutes. */
    const passes = Effect.fnUntraced(function* (seconds: number) {
      let left = seconds
      for (; left >= BETWEEN_HEARTBEATS; left -= BETWEEN_HEARTBEATS) {
        yield* adjust(BETWEEN_HEARTBEATS)
        yield* beats
      }
      yield* adjust(left)
      yield* beats
    })

    const take = Effect.fnUntraced(function* (step: RecordedStep) {
      const { admission, ingest, operations } = running
      switch (step.step) {
        case "report":
          return yield* Effect.ignore(report(running, step.results, AgentId.make(step.agent)))
        case "silent":
          return alive.delete(step.agent)
        case "alive":
          return alive.add(step.agent)
        case "remove":
          return yield* Effect.ignore(admission.remove(AgentId.make(step.agent)))
        case "enroll":
          return yield* enroll(running, AgentId.make(step.agent))
        case "removeCheck":
        case "resetClock": {
          const check = { agent_id: AgentId.make(step.agent), check_id: CheckId.make(step.check) }
          return yield* Effect.ignore(operations[step.step](check))
        }
        case "declare": {
          const agent_id = AgentId.make(step.agent)
          const declared = {
            check_id: CheckId.make(step.check),
            every: Duration.seconds(step.seconds),
            severity: step.severity,
            notifications_enabled: step.loud,
          }
          const request = { checks: [declared], complete: false }
          return yield* Effect.ignore(ingest.expectations(keyOf(step.agent), { agent_id, request }))
        }
        case "answers":
          return service.receivers.answerWith(ANSWERS[step.answer], { notifier: step.receiver })
        case "replay": {
          const failed = Array.from(service.rows().outbox.values()).filter(({ state }) => state === "failed")
          // The order of rows of one instant is not recorded.
          const ordered = failed.toSorted((a, b) => (line("", a, OF_ITEM) < line("", b, OF_ITEM) ? -1 : 1))
          const item = ordered[step.which % ordered.length]
          return item && (yield* Effect.ignore(operations.replay(item.id)))
        }
        case "clockBack":
          return clock.setBack(Duration.seconds(step.seconds))
        case "down":
        case "passes":
          return undefined
      }
    })

    for (const step of steps) {
      if (step.step === "passes") yield* passes(step.seconds)
      else if (step.step === "down") {
        yield* whileTimePasses(running.close)
        yield* adjust(step.seconds)
        running = yield* open
      } else yield* byTheirClock(take(step))
    }
    for (const receiver of RECEIVERS) service.receivers.answerWith(delivered, { notifier: receiver })
    yield* passes(SECONDS_OF_THE_END)
    return courseOf(service)
  },
  Effect.provideService(Random.Random, noJitter),
  Effect.scoped,
)
