import type { ServerResponse } from "node:http"

/** Sixteen of the longest lists. It keeps slow clients from filling the memory. */
const MOST_BYTES = 64 * 1_048_576

/** Smaller answers are bounded by the number of connections, and are not counted. */
const COUNTED_BYTES = 65_536

/**
 * Answers that their clients have not read yet. Beyond a total of bytes, the connection that has
 * waited longest is closed.
 */
export class UnreadAnswers {
  readonly #mostBytes: number
  #held = 0
  // Oldest first.
  readonly #unread = new Map<ServerResponse, number>()

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** Bytes of all unread answers. */
  get bytes(): number {
    return this.#held
  }

  /** Watches an answer before it is written. */
  watch(response: ServerResponse): void {
    response.once("prefinish", () => {
      if (response.writableLength >= COUNTED_BYTES) this.#hold(response)
    })
  }

  #hold(response: ServerResponse): void {
    const bytes = response.writableLength
    const release = () => this.#release(response)
    this.#unread.set(response, bytes)
    this.#held += bytes
    response.once("finish", release)
    response.once("close", release)
    for (const [oldest] of this.#unread) {
      if (this.#held <= this.#mostBytes || oldest === response) return
      this.#release(oldest)
      oldest.destroy()
    }
  }

  #release(response: ServerResponse): void {
    this.#held -= this.#unread.get(response) ?? 0
    this.#unread.delete(response)
  }
}
