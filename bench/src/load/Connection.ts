import { connect, type Socket } from "node:net"
import { connect as connectSecurely } from "node:tls"
import { readAnswer } from "./Answer.ts"
import type { Channel, ChannelListener } from "./protocols/Protocol.ts"

const READ_BYTES = 65_536

/** Where to connect; a secure one checks no certificate. */
interface Address {
  readonly port: number
  readonly isSecure?: true
}

/** A kept-alive connection with at most one request in flight. */
export class Connection implements Channel {
  readonly #socket: Socket
  readonly #listener: ChannelListener
  #partial: Buffer = Buffer.alloc(0)
  #isClosing = false

  private constructor(socket: Socket, listener: ChannelListener) {
    this.#socket = socket
    this.#listener = listener
  }

  static open({ isSecure, port }: Address, listener: ChannelListener): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const address = { host: "127.0.0.1", port, noDelay: true }
      const socket = isSecure
        ? connectSecurely({ ...address, rejectUnauthorized: false })
        : connect({
            ...address,
            // One buffer for all reads of the connection: nothing is allocated for an answer.
            onread: {
              buffer: Buffer.allocUnsafe(READ_BYTES),
              callback: (size, buffer) => {
                connection.#read(buffer.subarray(0, size))
                return true
              },
            },
          })
      const connection = new Connection(socket, listener)
      if (isSecure) socket.on("data", (chunk: Buffer) => connection.#read(chunk))
      socket.on("error", (error) => {
        reject(error)
        connection.#lose(error.message)
      })
      socket.on("close", () => connection.#lose("the server closed the connection"))
      socket.on(isSecure ? "secureConnect" : "connect", () => resolve(connection))
    })
  }

  send(request: Uint8Array): void {
    this.#socket.write(request)
  }

  close(): void {
    this.#isClosing = true
    this.#socket.destroy()
  }

  #lose(reason: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#listener.lost(reason)
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
    this.#listener.answered(answer)
  }
}
