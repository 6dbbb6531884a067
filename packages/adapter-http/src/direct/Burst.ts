/** Something whose answer waits to be written. */
export interface Flushed {
  readonly flush: () => void
}

/** More than this many waiting clients gain nothing any more, and the first of them have waited long enough. */
const MOST_WAITING = 16

/**
 * Answers that one turn of the event loop has made, written together at its end: a client that is woken by the first of them
 * finds the next ones there, and waking it costs more than writing (docs/performance.md).
 */
export class Burst {
  #waiting: Array<Flushed> = []
  readonly #flush = () => this.flush()

  /** Has it flushed at the end of this turn. */
  add(one: Flushed): void {
    if (this.#waiting.push(one) === 1) setImmediate(this.#flush)
    else if (this.#waiting.length === MOST_WAITING) this.flush()
  }

  /** Flushes all that wait, now. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one.flush()
  }
}
