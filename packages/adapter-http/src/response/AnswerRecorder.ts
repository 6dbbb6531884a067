import type { Counter } from "@tocsin/core/kernel/engine/metrics/Counters"
import { CurrentInstruments, type Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { Effect, LogLevel } from "effect"
import { shownPath } from "../routes.ts"
import { requestMetrics } from "@tocsin/core/heart/usecases/requestMetrics"

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"])

export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  /** From its headers to its answer. */
  readonly millis: number
  readonly requestId: string
}

/** The debug line of a request. It leaves the query out, which may contain anything. */
const logAnswer = ({ method, url, status, millis, requestId }: AnsweredRequest): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logDebug("request"), {
    method,
    path: shownPath(url),
    status,
    duration_ms: millis,
    request_id: requestId,
  })

/** Records every answer once: a count and a time by its route, and a debug line. */
export const makeRecorder = (instruments: Instruments, isLogged: boolean) => {
  const { httpDuration, httpRequests } = instruments.of(requestMetrics)
  const methods = new Map<string, Map<string, ReturnType<typeof makeRoute>>>()
  const makeRoute = (route: string, method: string) => {
    const duration = httpDuration.of(route, method)
    // Few statuses each: an index is cheaper than a lookup in a map.
    const answers: Array<Counter> = []
    return {
      /** Counts and times an answer immediately; the effect writes the debug line. */
      record: (request: AnsweredRequest): Effect.Effect<void> => {
        const { status, millis } = request
        const counter = (answers[status] ??= httpRequests.of(route, method, String(status)))
        counter.value += 1
        duration.observe(millis / 1_000)
        return isLogged ? logAnswer(request) : Effect.void
      },
    }
  }
  return {
    /** The recorder of a route, which is a template and no path. Unusual methods share one. */
    of: (route: string, method: string) => {
      const known = METHODS.has(method) ? method : "other"
      const routes = methods.get(known) ?? new Map<string, ReturnType<typeof makeRoute>>()
      const recorder = routes.get(route) ?? makeRoute(route, known)
      if (routes.size === 0) methods.set(known, routes)
      if (!routes.has(route)) routes.set(route, recorder)
      return recorder
    },
  }
}

/** The recorder of a server, with the instruments and the log level at hand. */
export const make = Effect.gen(function* () {
  return makeRecorder(yield* CurrentInstruments, yield* LogLevel.isEnabled("Debug"))
})
