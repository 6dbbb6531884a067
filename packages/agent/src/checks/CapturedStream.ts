import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { CapturedText } from "./RunOutcome.ts"

/** Bytes of each stream that are kept; the rest is read and dropped, so that the command gets no SIGPIPE. */
const KEPT_BYTES = 65_536

/** The beginning of what a command writes. */
export class CapturedStream {
  readonly #chunks: Array<Buffer> = []
  #kept = 0
  #dropped = 0

  constructor(stream: Readable) {
    stream.on("data", (chunk: Buffer) => this.#take(chunk))
    // A stream that breaks has ended: what was read stands.
    stream.on("error", () => {})
  }

  /** The kept bytes as text; a character that was cut in two is left out. */
  captured(): CapturedText {
    const decoder = new StringDecoder("utf8")
    const text = decoder.write(Buffer.concat(this.#chunks))
    const droppedBytes = this.#dropped
    return { text: droppedBytes > 0 ? text : text + decoder.end(), droppedBytes }
  }

  #take(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, KEPT_BYTES - this.#kept))
    if (part.length > 0) this.#chunks.push(part)
    this.#kept += part.length
    this.#dropped += chunk.length - part.length
  }
}
