import { connect, type Socket } from "node:net"
import type { Answer } from "../Answer.ts"
import { CHECK_NUMBERS, operationsOf } from "../Load.ts"
import type { Channel, ChannelListener, Protocol } from "./Protocol.ts"

const SIGNATURE = Buffer.from("ZBXD\u0001", "latin1")
const HEAD_BYTES = SIGNATURE.length + 8

/** A message as Zabbix's trapper takes it. */
const framed = (text: string): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
  SIGNATURE.copy(head)
  head.writeUInt32LE(Buffer.byteLength(text), SIGNATURE.length)
  return Buffer.concat([head, Buffer.from(text)])
}

const answerIn = (bytes: Buffer): Answer | undefined => {
  if (bytes.length < HEAD_BYTES) return undefined
  const end = HEAD_BYTES + bytes.readUInt32LE(SIGNATURE.length)
  return bytes.length < end ? undefined : { status: 200, body: bytes.toString("latin1", HEAD_BYTES, end) }
}

/** The server closes each connection after its answer. */
const open = (port: number, { answered, lost }: ChannelListener): Channel => {
  let socket: Socket | undefined
  let isClosing = false
  const end = (reason: string) => {
    if (!isClosing) lost(reason)
    isClosing = true
  }
  return {
    send: (request) => {
      let received: Buffer = Buffer.alloc(0)
      let isAnswered = false
      const one = connect({ host: "127.0.0.1", port, noDelay: true })
      socket = one
      one.write(Buffer.from(request))
      one.on("data", (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        const answer = isAnswered ? undefined : answerIn(received)
        if (answer === undefined) return
        isAnswered = true
        answered(answer)
      })
      one.on("error", (error) => isAnswered || end(error.message))
      one.on("close", () => isAnswered || end("the server closed the connection"))
    },
    close: () => {
      isClosing = true
      socket?.destroy()
    },
  }
}

/** Zabbix: values of trapper items, one or 50 a request. */
export const zabbix: Protocol = {
  operationsOf,
  open: (port, listener) => Promise.resolve(open(port, listener)),
  render:
    (step, status) =>
    ({ agentId, check }) => {
      const data = (step === "heartbeat" ? [check] : CHECK_NUMBERS).map((one) => ({
        host: agentId,
        key: `check-${one}`,
        value: status === "ok" ? "0" : "2",
      }))
      return framed(JSON.stringify({ request: "sender data", data }))
    },
  faultOf: (step, { body }) =>
    body.includes(`processed: ${operationsOf(step)}; failed: 0;`) ? undefined : `answered ${body}`,
}
