/** So many turns of the event loop without an arrival: a connection is accepted in one, and read in the next. */
const QUIET_TURNS = 4

/** Under load something always arrives; the server has to stop all the same. */
const MOST_MILLIS = 1_000

/** Connections and requests as they arrive at a server: what has arrived when it stops is still read. */
export class Arrivals {
  #count = 0

  note(): void {
    this.#count += 1
  }

  /** Calls back when all that has arrived is read: no turn of the event loop brings more, or a second has passed. */
  settle(onSettled: () => void): void {
    const deadline = performance.now() + MOST_MILLIS
    let seen = this.#count
    let quiet = 0
    const look = (): void => {
      quiet = seen === this.#count ? quiet + 1 : 0
      seen = this.#count
      if (quiet === QUIET_TURNS || performance.now() > deadline) onSettled()
      else setImmediate(look)
    }
    setImmediate(look)
  }
}
