import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { CapturedText } from "../checks/RunOutcome.ts"

/** Bytes of output that are kept: the last lines say how a job ended. */
const KEPT_BYTES = 8_000

/** The last whole lines of an output, or the end of a line that is longer. */
export class OutputTail {
  #kept = Buffer.alloc(0)
  #dropped = 0

  /** Copies output as it comes, as slowly as its reader takes it; a reader that has closed stops nothing. */
  passOn(from: Readable, to: Writable): void {
    let isOpen = true
    to.on("error", () => {
      isOpen = false
      from.resume()
    })
    from.on("data", (chunk: Buffer) => {
      this.#add(chunk)
      if (!isOpen || to.write(chunk)) return
      from.pause()
      to.once("drain", () => from.resume())
    })
  }

  captured(): CapturedText {
    const text = new StringDecoder("utf8").write(this.#kept)
    const droppedBytes = this.#dropped
    // The first line is cut where something was dropped before it.
    const whole = droppedBytes === 0 ? text : text.slice(text.indexOf("\n") + 1)
    return { text: whole === "" ? text : whole, droppedBytes }
  }

  #add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk])
    this.#kept = all.subarray(Math.max(0, all.length - KEPT_BYTES))
    this.#dropped += all.length - this.#kept.length
  }
}
