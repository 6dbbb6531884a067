import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import { EventBatchRequest, HeartbeatRequest } from "@tocsin/core/contract/Requests"
import { StoredCheckResultEvent } from "@tocsin/core/contract/Resources"
import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { defaultPolicy, Policy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import { type IncidentStory, Storage } from "@tocsin/core/ports/Storage"
import { Admission } from "@tocsin/core/usecases/Admission"
import * as Delivery from "@tocsin/core/usecases/Delivery"
import * as Housekeeping from "@tocsin/core/usecases/Housekeeping"
import { OutboxSignal } from "@tocsin/core/usecases/OutboxSignal"
import { Queries } from "@tocsin/core/usecases/Queries"
import { atMost } from "@tocsin/testing/records"
import { Context, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { settled } from "../delivery/settled.ts"
import { heartbeatOf, keyOf, START_MILLIS } from "@tocsin/testing/samples"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { AGENTS, eventMaker, type Step } from "./Script.ts"

/** What a service that runs a script came to, and what it received: the lines of a simulation. */
export interface Course {
  readonly lines: ReadonlyArray<string>
  /** The history that it answers at the end, newest first, as the API writes it. */
  readonly history: ReadonlyArray<unknown>
  readonly stories: ReadonlyArray<IncidentStory>
  readonly notifications: ReadonlyArray<{
    readonly at: Instant.Instant
    readonly notification: DeliveryAttempt
  }>
  readonly endedAt: Instant.Instant
}

const SWEEP_MILLIS = 5_000
const unlimited = { perMinute: 0, burst: 0 }
const encodeHeartbeat = Schema.encodeSync(HeartbeatRequest)
const encodeBatch = Schema.encodeSync(EventBatchRequest)
const encodeStored = Schema.encodeSync(StoredCheckResultEvent)

const useCases = Layer.mergeAll(Ingest.layer, Admission.layer, Queries.layer)

/** Lets time pass, from one sweep to the next, with all work done at each. */
const pass = Effect.fnUntraced(function* (millis: number) {
  for (let left = millis; left > 0;) {
    const elapsed = Number((yield* Instant.now) / 1_000n) - START_MILLIS
    const stride = Math.min(left, SWEEP_MILLIS - (elapsed % SWEEP_MILLIS))
    yield* TestClock.adjust(stride)
    yield* settled
    left -= stride
  }
})

/** Runs a whole service in memory through a script, by the test's clock. */
export const runService = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  policy: Partial<PolicyOptions>,
) {
  yield* TestClock.setTime(START_MILLIS)
  const inForce = { ...defaultPolicy, heartbeatRate: unlimited, ...policy }
  const notifications: Array<Course["notifications"][number]> = []
  const notifier = (kind: NotifierName) =>
    ({
      kind,
      send: (notification: DeliveryAttempt) =>
        Effect.map(Instant.now, (at) => {
          notifications.push({ at, notification })
          return { outcome: "delivered" } as const
        }),
      test: Effect.never,
    }) as const
  const service = Layer.mergeAll(useCases, Delivery.layer, Housekeeping.layer).pipe(
    Layer.provideMerge(OutboxSignal.layer),
    Layer.provide([
      MemoryStorage.layer,
      NodeHashing.layer(),
      SeededIds.layer("service"),
      Layer.succeed(Policy, inForce),
      Layer.succeed(Notifiers, new Map(inForce.notifiers.map((kind) => [kind, notifier(kind)]))),
    ]),
  )
  const services = yield* Layer.build(Layer.fresh(service))
  const ingest = Context.get(services, Ingest)
  const storage = Context.get(services, Storage)
  const lines: Array<string> = []
  const makeEvents = eventMaker()
  const receive = (body: object) =>
    Effect.map(Instant.now, (now) => {
      lines.push(JSON.stringify({ ...body, received_at: Instant.format(now) }))
    })
  const heartbeat = Effect.fnUntraced(function* (agent: string) {
    const request = heartbeatOf(agent, { observed_at: yield* Instant.now })
    yield* receive(encodeHeartbeat(request))
    yield* ingest.heartbeat(keyOf(agent), request)
  })

  for (const agent of AGENTS) yield* heartbeat(agent)
  yield* Context.get(services, Admission).acceptAll({ includeRotation: false })
  for (const step of steps) {
    if (step.step === "wait") yield* pass(step.millis)
    else {
      const agent_id = AGENTS[step.agent] ?? AGENTS[0]
      if (agent_id === undefined) continue
      if (step.step === "heartbeat") yield* heartbeat(agent_id)
      else {
        const batch = { agent_id, events: makeEvents(yield* Instant.now, step.results) }
        yield* receive(encodeBatch(batch))
        yield* ingest.events(keyOf(agent_id), batch)
      }
    }
    yield* settled
  }
  const rows = yield* storage.page({
    list: "incidents",
    filter: {},
    sort: "opened_at",
    direction: "asc",
    from: undefined,
    isBackward: false,
    limit: 10_000,
  })
  const stories = yield* Effect.forEach(rows, ({ id }) => storage.incident(id, atMost(10_000)))
  const history = yield* Context.get(services, Queries).history({ limit: 500 })
  const course: Course = {
    lines,
    history: history.items.map((item) => encodeStored(item)),
    stories: stories.flatMap((story) => story ?? []),
    notifications,
    endedAt: yield* Instant.now,
  }
  return course
}, Effect.scoped)
