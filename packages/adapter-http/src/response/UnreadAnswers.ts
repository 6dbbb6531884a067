import type { ServerResponse } from "node:http"

/** Sixteen of the longest lists there are. Clients that take as long as they like cannot fill the memory. */
const MOST_BYTES = 64 * 1_048_576

/** Smaller ones are bounded by the number of connections, and not worth the count. */
const COUNTED_BYTES = 65_536

/**
 * Answers that are made and that their clients have not read. Together they hold so many bytes at most: beyond that the
 * connection that has waited longest is closed.
 */
export class UnreadAnswers {
  readonly #mostBytes: number
  #held = 0
  // In the order in which they were made.
  readonly #unread = new Map<ServerResponse, number>()

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** Bytes of all unread answers. */
  get bytes(): number {
    return this.#held
  }

  /** Watches an answer that is going to be made. */
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
