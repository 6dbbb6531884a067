import { assert } from "@effect/vitest"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { AgentStatus, CheckStatus, NotifierName } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { type Duration, Effect } from "effect"
import { AGENT, heartbeat, enroll, report, type Result } from "./agents.ts"
import type { Answer } from "./Receivers.ts"
import {
  openService,
  type Process,
  type ProcessOptions,
  type Service,
  type ServiceOptions,
  whileTimePasses,
} from "./Service.ts"
import { settled } from "./settled.ts"

/**
 * The words of a timeline: what an agent reports, how much time passes, and what a receiver then
 * has. See CONTRIBUTING.md, "Timelines".
 */
export interface Timeline {
  readonly service: Service
  /** The process that takes the requests. */
  readonly front: Process
  /** The process that delivers; the same as `front` unless `separateFront` is set. */
  readonly process: Process
  /** Lets time pass, and then all work that is due be done. */
  readonly after: (duration: Duration.Input) => Effect.Effect<void>
  /** Shuts the front down and, after that time, starts another one. */
  readonly isDownFor: (duration: Duration.Input) => Effect.Effect<void>
  readonly agent: (id?: AgentId) => AgentWords
  /** The check `disk` of the agent `a`. */
  readonly disk: CheckWords
  readonly webhook: ReceiverWords
  readonly messenger: ReceiverWords
  readonly alertRouter: ReceiverWords
  readonly outbox: OutboxWords
  readonly incidents: IncidentWords
}

interface AgentWords {
  readonly heartbeats: Effect.Effect<void>
  readonly reports: (...results: ReadonlyArray<Result>) => Effect.Effect<void>
  readonly isDeleted: Effect.Effect<void>
  /** Asserts its status, as operators see it. */
  readonly is: (status: AgentStatus) => Effect.Effect<void>
}

interface CheckWords {
  /** A result with this status arrives. */
  readonly turns: (status: CheckStatus, more?: Partial<Result>) => Effect.Effect<void>
}

interface ReceiverWords {
  /** How it takes messages from now on: those of one process, or all. */
  readonly answers: (answer: Answer, options?: { readonly client: string }) => Effect.Effect<void>
  /** Asserts which messages have arrived: event type, severity and incident key, in order. */
  readonly has: (...messages: ReadonlyArray<string>) => Effect.Effect<void>
}

interface OutboxWords {
  /** All items, in the order of their creation. */
  readonly items: () => ReadonlyArray<OutboxRecord>
  /** The item at a position. */
  readonly item: (at?: number) => OutboxRecord
  /** Asserts the event type and state of each item, in the order of their creation. */
  readonly is: (...items: ReadonlyArray<string>) => Effect.Effect<void>
}

interface IncidentWords {
  /** Asserts the keys of the open incidents, as operators see them. */
  readonly areOpen: (...keys: ReadonlyArray<string>) => Effect.Effect<void>
}

/**
 * How a timeline begins: with the agent `a` accepted, and one process that delivers to a webhook.
 */
export interface TimelineOptions extends ServiceOptions {
  /** Whether requests go to a process that delivers nothing. */
  readonly separateFront?: boolean
  /** How the process that delivers is set up. */
  readonly process?: ProcessOptions
  readonly agents?: ReadonlyArray<AgentId>
}

/** Opens a service with the words of a timeline. */
export const openTimeline = Effect.fnUntraced(function* (options: TimelineOptions = {}) {
  const { separateFront = false, process: processOptions, agents = [AGENT], ...changes } = options
  const service = yield* openService({ notifiers: ["webhook"], ...changes })
  const process = yield* service.open("first", processOptions)
  const front = separateFront ? yield* service.open("front", { delivers: false }) : process
  // The process that the words act on.
  let acting = front
  yield* settled
  yield* enroll(front, ...agents)
  yield* settled

  const agent = (id: AgentId = AGENT): AgentWords => {
    const done = <A, E>(effect: Effect.Effect<A, E>) => effect.pipe(Effect.orDie, Effect.andThen(settled))
    return {
      heartbeats: done(Effect.suspend(() => heartbeat(acting, id))),
      reports: (...results) => done(Effect.suspend(() => report(acting, results, id))),
      isDeleted: done(Effect.suspend(() => acting.admission.remove(id))),
      is: (status) =>
        Effect.flatMap(Effect.orDie(acting.queries.agent(id)), (found) =>
          Effect.sync(() => assert.strictEqual(found.status, status)),
        ),
    }
  }
  const receiver = (notifier: NotifierName): ReceiverWords => ({
    answers: (answer, client) =>
      Effect.sync(() => service.receivers.answerWith(answer, { notifier, ...client })),
    has: (...messages) => Effect.sync(() => assert.deepStrictEqual(arrivedAt(service, notifier), messages)),
  })
  const items = () => Array.from(service.rows().outbox.values())
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  let fronts = 1
  const isDownFor = Effect.fnUntraced(function* (duration: Duration.Input) {
    yield* whileTimePasses(acting.close)
    yield* after(duration)
    fronts += 1
    acting = yield* service.open(`front ${fronts}`, processOptions)
    yield* settled
  })
  const timeline: Timeline = {
    service,
    front,
    process,
    after,
    isDownFor,
    agent,
    disk: { turns: (status, more) => agent().reports({ check: "disk", status, ...more }) },
    webhook: receiver("webhook"),
    messenger: receiver("messenger"),
    alertRouter: receiver("alert_router"),
    outbox: {
      items,
      item: (at = 0) => items()[at] ?? assert.fail(`there is no outbox item ${at}`),
      is: (...expected) => Effect.sync(() => assert.deepStrictEqual(statesOf(service), expected)),
    },
    incidents: {
      areOpen: (...keys) =>
        Effect.map(
          Effect.suspend(() => openIncidents(acting)),
          (open) =>
            assert.deepStrictEqual(
              open.map(({ incident_key }) => String(incident_key)),
              keys,
            ),
        ),
    },
  }
  return timeline
})

const arrivedAt = ({ receivers }: Service, notifier: NotifierName): ReadonlyArray<string> =>
  receivers.arrivals
    .filter(({ notification }) => notification.notifier === notifier)
    .map(
      ({ notification: { event_type, severity, incident } }) =>
        `${event_type} ${severity} ${incident.incident_key}`,
    )

/** The event type and state of each outbox item, in the order of their creation. */
const statesOf = ({ rows }: Pick<Service, "rows">): ReadonlyArray<string> =>
  Array.from(rows().outbox.values(), ({ event_type, state }) => `${event_type} ${state}`)

/** The open incidents, as operators see them. */
export const openIncidents = Effect.fnUntraced(function* ({ queries }: Process) {
  const page = yield* Effect.orDie(
    queries.incidents({ state: "open", sort: "status", direction: "desc", limit: 1_000 }),
  )
  return page.items
})
