import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import * as Instant from "@tocsin/contract/formats/Instant"
import { StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { type SilenceId, SilenceRequest } from "@tocsin/contract/silences/Silences"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { IncidentTimeline } from "@tocsin/core/kernel/ports/Storage"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import type { SilenceRecord } from "@tocsin/core/heart/model/SilenceRecord"
import { atMost } from "@tocsin/testing/records"
import { heartbeatOf, keyOf, START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Arrival } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { AGENTS, eventMaker, type Step } from "./Script.ts"

/** The outcome of a script, and the requests as lines that a simulation reads. */
export interface Course {
  readonly lines: ReadonlyArray<string>
  /** The final history, newest first, as the API writes it. */
  readonly history: ReadonlyArray<unknown>
  readonly scenarios: ReadonlyArray<IncidentTimeline>
  readonly notifications: ReadonlyArray<Arrival>
  readonly outbox: ReadonlyArray<OutboxRecord>
  readonly silences: ReadonlyArray<SilenceRecord>
  readonly endedAt: Instant.Instant
}

const SWEEP_MILLIS = 5_000
const encodeHeartbeat = Schema.encodeSync(HeartbeatRequest)
const encodeBatch = Schema.encodeSync(EventBatchRequest)
const encodeSilence = Schema.encodeSync(SilenceRequest)
const encodeStored = Schema.encodeSync(StoredCheckResultEvent)

const matcherOf = (text: string) => Result.getOrThrow(parseMatcher(text))

/** Lets time pass from one sweep to the next, and all due work be done at each. */
const pass = Effect.fnUntraced(function* (millis: number) {
  for (let left = millis; left > 0;) {
    const elapsed = Number((yield* Instant.now) / 1_000n) - START_MILLIS
    const stride = Math.min(left, SWEEP_MILLIS - (elapsed % SWEEP_MILLIS))
    yield* TestClock.adjust(stride)
    yield* settled
    left -= stride
  }
})

/** Runs a script on a whole service in memory. */
export const runService = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  rules: Partial<RuleOptions>,
) {
  const service = yield* openService(rules)
  const { ingest, admission, operations, queries, storage } = yield* service.open("live", {
    keepsHouse: true,
  })
  const lines: Array<string> = []
  const makeEvents = eventMaker()
  const note = (body: object) =>
    Effect.map(Instant.now, (now) => {
      lines.push(JSON.stringify({ ...body, received_at: Instant.format(now) }))
    })
  const heartbeat = Effect.fnUntraced(function* (agent: string, team?: string) {
    const labels = team === undefined ? undefined : { team }
    const request = heartbeatOf(agent, { observed_at: yield* Instant.now, ...(labels && { labels }) })
    yield* note(encodeHeartbeat(request))
    yield* ingest.heartbeat(keyOf(agent), request)
  })

  const by = "anna"
  const as = <A, E>(acting: Effect.Effect<A, E>) =>
    Effect.provideService(acting, CurrentOperator, libraryOperator(by))

  const silences = new Map<string, SilenceId>()
  const silence = Effect.fnUntraced(function* (step: Extract<Step, { readonly silence: string }>) {
    const now = yield* Instant.now
    const later = (seconds: number) => Instant.plus(now, Duration.seconds(seconds))
    const { silence: name } = step
    const id = silences.get(name)
    if (step.step === "add") {
      if (id !== undefined) return
      const [starts_at, ends_at] = [later(step.delay), later(step.delay + step.seconds)]
      const request = { matchers: [matcherOf(step.match)], starts_at, ends_at, comment: name, confirm: true }
      yield* note({ silence: name, add: { by, ...encodeSilence(request) } })
      silences.set(name, (yield* as(operations.silence(request))).id)
    } else if (id !== undefined) {
      const stored = yield* operations.showSilence(id)
      if (stored.ends_at <= now) return
      if (step.step === "extend") {
        const ends_at = Instant.plus(Instant.max(now, stored.starts_at), Duration.seconds(step.seconds))
        yield* note({ silence: name, extend: { ends_at: Instant.format(ends_at) } })
        yield* as(operations.editSilence(id, { ends_at }))
      } else {
        yield* note({ silence: name, expire: { by } })
        yield* as(operations.expireSilence(id))
      }
    }
  })

  const act = Effect.fnUntraced(function* (step: Extract<Step, { readonly key: string }>) {
    const key = IncidentKey.make(step.key)
    const ids = Array.from(service.rows().incidents.values())
      .filter(({ incident_key, state }) => incident_key === key && state === "open")
      .map(({ id }) => id)
    if (step.step === "acknowledge") {
      if (ids.length > 0) yield* note({ incident_key: key, acknowledge: { by, for: `${step.seconds}s` } })
      const request = { for: Duration.seconds(step.seconds) }
      for (const id of ids) yield* as(operations.acknowledge(id, request))
    } else {
      const withdrawn = yield* Effect.forEach(ids, (id) => as(operations.withdraw(id)))
      if (withdrawn.some(({ count }) => count > 0)) yield* note({ incident_key: key, withdraw: { by } })
    }
  })

  for (const agent of AGENTS) yield* heartbeat(agent)
  yield* admission.acceptAll({ includeRotation: false })
  for (const step of steps) {
    if (step.step === "wait") yield* pass(step.millis)
    else if ("key" in step) yield* act(step)
    else if ("silence" in step) yield* silence(step)
    else {
      const agent_id = AGENTS[step.agent] ?? AGENTS[0]
      if (agent_id === undefined) continue
      if (step.step === "heartbeat") yield* heartbeat(agent_id, step.team)
      else {
        const batch = { agent_id, events: makeEvents(yield* Instant.now, step.results) }
        yield* note(encodeBatch(batch))
        yield* ingest.events(keyOf(agent_id), batch)
      }
    }
    yield* settled
  }
  const scenarios = yield* Effect.forEach(service.rows().incidents.values(), ({ id }) =>
    storage.incident(id, atMost(10_000)),
  )
  const history = yield* queries.history({ limit: 500 })
  const course: Course = {
    lines,
    history: history.items.map((item) => encodeStored(item)),
    scenarios: scenarios.flatMap((scenario) => scenario ?? []),
    notifications: service.receivers.arrivals,
    outbox: Array.from(service.rows().outbox.values()),
    silences: yield* Effect.forEach(silences.values(), (id) => operations.showSilence(id)),
    endedAt: yield* Instant.now,
  }
  return course
}, Effect.scoped)
