import { connect, type Socket } from "node:net"
import { type Answer, readAnswer } from "./Answer.ts"

const READ_BYTES = 65_536

/** A kept-alive connection with at most one request in flight. */
export class Connection {
  readonly #socket: Socket
  readonly #answered: (answer: Answer) => void
  #partial: Buffer = Buffer.alloc(0)
  #isClosing = false

  private constructor(socket: Socket, answered: (answer: Answer) => void) {
    this.#socket = socket
    this.#answered = answered
  }

  /**
   * Connects. `answered` is called for each answer, `lost` once if the connection ends before
   * `close`.
   */
  static open(
    port: number,
    answered: (answer: Answer) => void,
    lost: (reason: string) => void,
  ): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: "127.0.0.1",
        port,
        noDelay: true,
        // One buffer for all reads of the connection: nothing is allocated for an answer.
        onread: {
          buffer: Buffer.allocUnsafe(READ_BYTES),
          callback: (size, buffer) => {
            connection.#read(buffer.subarray(0, size))
            return true
          },
        },
      })
      const connection = new Connection(socket, answered)
      socket.on("error", (error) => {
        reject(error)
        connection.#lose(lost, error.message)
      })
      socket.on("close", () => connection.#lose(lost, "the server closed the connection"))
      socket.on("connect", () => resolve(connection))
    })
  }

  send(request: Uint8Array): void {
    this.#socket.write(request)
  }

  close(): void {
    this.#isClosing = true
    this.#socket.destroy()
  }

  #lose(lost: (reason: string) => void, reason: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    lost(reason)
  }

  #read(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const whole = this.#partial.length === 0 ? chunk : Buffer.concat([this.#partial, chunk])
    const answer = readAnswer(whole)
    if (answer === undefined) {
      this.#partial = Buffer.from(whole)
      return
    }
    if (this.#partial.length > 0) this.#partial = Buffer.alloc(0)
    this.#answered(answer)
  }
}
