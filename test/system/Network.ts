import { agentCalls, enrolCall, expectationsCall } from "@tocsin/adapter-http/handlers/AgentHandlers"
import { statusOf } from "@tocsin/adapter-http/fastpath/agentMessages"
import {
  type CoreError,
  errorBody,
  errorFields,
  failureOfCause,
} from "@tocsin/adapter-http/response/failures"
import type { HttpAnswer, OutgoingRequest } from "@tocsin/reporting/agent/Answer"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Clock, Effect, Redacted } from "effect"
import type { Draws } from "./Draws.ts"
import type { SimulatedServer } from "./Servers.ts"

/** How often a request fares so; what is left arrives and is answered. */
export interface NetworkFaults {
  refused: number
  /** It never arrives, and the agent waits in vain. */
  requestLost: number
  /** It is applied, and the answer never arrives. */
  answerLost: number
  /** It arrives when the agent no longer waits. */
  late: number
  /** A proxy sends it twice. */
  twice: number
}

/** A network without faults. */
export const CALM: NetworkFaults = { refused: 0, requestLost: 0, answerLost: 0, late: 0, twice: 0 }

/** How long the agent's transport waits for an answer. */
const ANSWER_MILLIS = 15_000
const LATE_MILLIS = 40_000

const fates = ["refused", "requestLost", "answerLost", "late", "twice"] as const
type Fate = (typeof fates)[number] | "answered"

/** Draws the fate of the next request. */
export const drawFate = (draws: Draws, faults: NetworkFaults): Fate => {
  let left = draws.next()
  for (const fate of fates) {
    left -= faults[fate]
    if (left < 0) return fate
  }
  return "answered"
}

const OF_AGENT = { declaration: expectationsCall, enrolment: enrolCall }

/** A server's answer: the API's own decoding, decisions and codes. */
const answerOf = Effect.fnUntraced(function* (
  { process: { ingest } }: SimulatedServer,
  { agentId, body, key, kind }: OutgoingRequest,
) {
  const sender = { key: Redacted.make(key), address: undefined }
  const parsed: unknown = JSON.parse(body)
  const call: Effect.Effect<object, CoreError> =
    kind === "heartbeat" || kind === "events"
      ? agentCalls(ingest)[kind](sender, parsed)
      : OF_AGENT[kind](ingest)(AgentId.make(agentId))(sender, parsed)
  const date = new Date(yield* Clock.currentTimeMillis).toUTCString()
  return yield* Effect.matchCauseEffect(call, {
    onSuccess: (reply) =>
      Effect.succeed<HttpAnswer>({
        status: kind === "heartbeat" || kind === "events" ? 202 : 200,
        body: JSON.stringify(reply),
        date,
      }),
    onFailure: (cause) =>
      Effect.map(failureOfCause(cause), (failure): HttpAnswer => ({
        status: statusOf({ failure }),
        body: JSON.stringify(errorBody(failure, "simulated")),
        retryAfter: errorFields(failure)["retry-after"],
        date,
      })),
  })
})

/** One request on its way: `undefined` where no answer comes back. */
export const transmit = Effect.fnUntraced(function* (
  fate: Fate,
  {
    request,
    server,
    onAnswer,
  }: {
    readonly request: OutgoingRequest
    readonly server: SimulatedServer | undefined
    readonly onAnswer: (answer: HttpAnswer) => void
  },
) {
  const lost = Effect.as(Effect.sleep(ANSWER_MILLIS), undefined)
  const applied = (to: SimulatedServer) =>
    to.byItsClock(answerOf(to, request)).pipe(Effect.tap((answer) => Effect.sync(() => onAnswer(answer))))
  if (server === undefined || fate === "refused") return undefined
  if (fate === "requestLost") return yield* lost
  if (fate === "late") {
    yield* Effect.forkDetach(Effect.delay(applied(server), LATE_MILLIS))
    return yield* lost
  }
  yield* Effect.sleep(5)
  if (fate === "twice") yield* Effect.forkDetach(Effect.delay(applied(server), 300))
  const answer = yield* Effect.timeoutOption(applied(server), ANSWER_MILLIS)
  if (answer._tag === "None" || server.isGone) return undefined
  return fate === "answerLost" ? yield* lost : answer.value
})
