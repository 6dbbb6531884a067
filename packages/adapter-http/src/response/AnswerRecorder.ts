import type { Counter, Histogram } from "@tocsin/core/engine/metrics/Counters"
import { CurrentInstruments, type Instruments } from "@tocsin/core/engine/metrics/Instruments"
import { Effect, LogLevel } from "effect"
import { shownPath } from "../routes.ts"

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"])

/** A request that has been answered. */
export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  /** From its headers to its answer. */
  readonly millis: number
  readonly requestId: string
}

interface Observers {
  readonly instruments: Instruments
  readonly isLogged: boolean
}

/** Records the answers of one method at one route. */
export class RouteRecorder {
  readonly #observers: Observers
  readonly #labels: readonly [route: string, method: string]
  readonly #duration: Histogram
  // Few statuses each: an index is cheaper than a lookup in a map.
  readonly #answers: Array<Counter> = []

  constructor(observers: Observers, route: string, method: string) {
    this.#observers = observers
    this.#labels = [route, method]
    this.#duration = observers.instruments.httpDuration.of(route, method)
  }

  /** Counts and times an answer immediately; the effect writes the debug line. */
  record(request: AnsweredRequest): Effect.Effect<void> {
    const { instruments, isLogged } = this.#observers
    const { status, millis } = request
    const counter = (this.#answers[status] ??= instruments.httpRequests.of(...this.#labels, String(status)))
    counter.value += 1
    this.#duration.observe(millis / 1_000)
    return isLogged ? logAnswer(request) : Effect.void
  }
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
export class AnswerRecorder {
  readonly #observers: Observers
  readonly #routes = new Map<string, RouteRecorder>()

  constructor(observers: Observers) {
    this.#observers = observers
  }

  /** The recorder of a route, which is a template and no path. Unusual methods share one. */
  of(route: string, method: string): RouteRecorder {
    const known = METHODS.has(method) ? method : "other"
    const name = `${known} ${route}`
    const found = this.#routes.get(name)
    if (found !== undefined) return found
    const recorder = new RouteRecorder(this.#observers, route, known)
    this.#routes.set(name, recorder)
    return recorder
  }
}

/** The recorder of a server, with the instruments and the log level at hand. */
export const make = Effect.gen(function* () {
  return new AnswerRecorder({
    instruments: yield* CurrentInstruments,
    isLogged: yield* LogLevel.isEnabled("Debug"),
  })
})
