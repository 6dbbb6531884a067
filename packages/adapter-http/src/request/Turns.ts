/** Does one piece of work in each turn of the event loop, in order. What else there is to do gets its time between them. */
export class Turns {
  readonly #waiting: Array<() => void> = []
  readonly #next = () => this.#doNext()

  /** Adds a piece of work, which is done in a later turn. */
  add(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(this.#next)
  }

  #doNext(): void {
    const [work] = this.#waiting
    try {
      work?.()
    } finally {
      this.#waiting.shift()
      if (this.#waiting.length > 0) setImmediate(this.#next)
    }
  }
}
