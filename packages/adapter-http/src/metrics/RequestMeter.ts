import type { Counter, Histogram } from "@tocsin/core/engine/metrics/Counters"
import type { Instruments } from "@tocsin/core/engine/metrics/Instruments"

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"])

/** Counts and times the answers of one method at one route. */
export class RouteMeter {
  readonly #instruments: Instruments
  readonly #labels: readonly [route: string, method: string]
  readonly #duration: Histogram
  // Few statuses each: an index is cheaper than a look into a map.
  readonly #answers: Array<Counter> = []

  constructor(instruments: Instruments, route: string, method: string) {
    this.#instruments = instruments
    this.#labels = [route, method]
    this.#duration = instruments.httpDuration.of(route, method)
  }

  /** A request was answered, so many milliseconds after its headers had come. */
  answered(status: number, millis: number): void {
    const counter = (this.#answers[status] ??= this.#instruments.httpRequests.of(
      ...this.#labels,
      String(status),
    ))
    counter.value += 1
    this.#duration.observe(millis / 1_000)
  }
}

/** The meters of all routes. */
export class RequestMeter {
  readonly #instruments: Instruments
  readonly #meters = new Map<string, RouteMeter>()

  constructor(instruments: Instruments) {
    this.#instruments = instruments
  }

  /** The meter of a route, which is a template: no path that somebody sends. Unusual methods are one. */
  of(route: string, method: string): RouteMeter {
    const known = METHODS.has(method) ? method : "other"
    const name = `${known} ${route}`
    const found = this.#meters.get(name)
    if (found !== undefined) return found
    const meter = new RouteMeter(this.#instruments, route, known)
    this.#meters.set(name, meter)
    return meter
  }
}
