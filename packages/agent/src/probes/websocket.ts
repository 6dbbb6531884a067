import { quoted } from "@tocsin/contract/watches/ConditionValue"
import { createHash, randomBytes } from "node:crypto"
import type { Socket } from "node:net"
import { addAbortSignal } from "node:stream"
import { anyText, checked, flag, type ReadBy, type Reader, record, refused } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { askPage } from "./askPage.ts"
import { identityFault } from "./certificate.ts"
import { judgeOptions, timeFields, timeOf } from "./expectation.ts"
import { sentFields } from "./http.ts"
import { critical, figure, probe, type ProbeAround } from "./Probe.ts"
import { limited, secondsText, timed, wait, WAIT_MILLIS } from "./network.ts"
import { judgeTrust, trustFields, trusting } from "./trust.ts"

const address: Reader<string> = (value, place) => {
  const url = typeof value === "string" ? URL.parse(value) : null
  if (typeof value !== "string" || url === null || !["ws:", "wss:"].includes(url.protocol))
    return refused(place, "must be an address such as wss://shop.example/live")
  return url.username + url.password === "" ? value : refused(place, "must not contain a user: use headers")
}

const fields = {
  url: address,
  headers: sentFields,
  send: anyText,
  expect: anyText,
  verify: flag,
  wait,
  ...trustFields,
  ...timeFields,
}

const reader = checked(record(fields, ["url"]), (settings, place) => {
  judgeTrust(settings, place)
  judgeOptions("websocket")(settings, place)
})

/** Of the handshake (RFC 6455, 1.3). */
const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
const KEY_BYTES = 16
const SWITCHED = 101

/** Opens a WebSocket, sends a text if there is one, and waits for a text message with the expected one. */
export const websocket = probe({ name: "websocket", lane: "network" }, reader, async (settings, around) => {
  const { url, wait: millis = WAIT_MILLIS, ...times } = settings
  const { host, pathname, protocol } = new URL(url)
  // A query may be a secret.
  const shown = `${protocol}//${host}${pathname}`
  try {
    const { seconds, value: words } = await timed(around.clock, () =>
      limited(millis, around, (signal) => exchanged(settings, { ...around, signal })),
    )
    const found = `${shown} ${words} in ${secondsText(seconds)}`
    return figure(timeOf(seconds, times, found))
  } catch (error) {
    return critical(`${shown}: ${explainError(error, around.targets === undefined)}`)
  }
})

const exchanged = async (settings: ReadBy<typeof reader>, around: ProbeAround): Promise<string> => {
  const { expect, headers, send, verify = true } = settings
  const key = randomBytes(KEY_BYTES).toString("base64")
  const url = new URL(settings.url.replace(/^ws/i, "http"))
  const given = [...(headers ?? [])].map(([name, value]) => [name, Buffer.from(value).toString("latin1")])
  const options = {
    rejectUnauthorized: verify,
    checkServerIdentity: identityFault,
    ...(await trusting(settings)),
    headers: {
      "user-agent": "tocsin-agent",
      ...Object.fromEntries(given),
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": key,
      "sec-websocket-version": "13",
    },
  }
  const { end, response, rest } = await askPage(url, { options, body: undefined }, around)
  try {
    if (response.statusCode !== SWITCHED)
      throw new Error(`answered ${response.statusCode}, not as a WebSocket`)
    const accept = createHash("sha1")
      .update(key + MAGIC)
      .digest("base64")
    if (response.headers["sec-websocket-accept"] !== accept)
      throw new Error("answered the handshake with a wrong Sec-WebSocket-Accept")
    const { socket } = response
    if (send !== undefined) socket.write(frameOf(Opcode.text, Buffer.from(send)))
    if (expect === undefined) return "opened"
    socket.unshift(rest)
    return await received(addAbortSignal(around.signal, socket), expect)
  } finally {
    end()
    response.socket.destroy()
  }
}

const Opcode = { more: 0, text: 1, close: 8, ping: 9, pong: 10 } as const
const MASK_BYTES = 4
const LONG = 126
const LONGER = 127

/** A frame as a client sends it: whole, and masked. */
const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const head =
    payload.length < LONG
      ? Buffer.from([0x80 | opcode, 0x80 | payload.length])
      : Buffer.from([0x80 | opcode, 0x80 | LONG, payload.length >> 8, payload.length & 0xff])
  const mask = randomBytes(MASK_BYTES)
  const masked = payload.map((byte, at) => byte ^ (mask[at % MASK_BYTES] ?? 0))
  return Buffer.concat([head, mask, masked])
}

/** The first frame of some bytes, and how many it has; nothing while it is not whole. */
const frameIn = (bytes: Buffer) => {
  if (bytes.length < 2) return undefined
  const short = bytes.readUInt8(1) & 0x7f
  const at = short === LONG ? 4 : short === LONGER ? 10 : 2
  if (bytes.length < at) return undefined
  const length =
    short === LONG ? bytes.readUInt16BE(2) : short === LONGER ? Number(bytes.readBigUInt64BE(2)) : short
  if (length > LONGEST_MESSAGE) throw new Error("sent a message of more than 1 MiB")
  if (bytes.length < at + length) return undefined
  const first = bytes.readUInt8(0)
  return {
    isLast: (first & 0x80) !== 0,
    opcode: first & 0x0f,
    payload: bytes.subarray(at, at + length),
    size: at + length,
  }
}

const LONGEST_MESSAGE = 1_048_576

/** Reads messages until a text has the expected one. */
const received = async (socket: Socket, expect: string): Promise<string> => {
  let unread: Buffer = Buffer.alloc(0)
  let message: Buffer = Buffer.alloc(0)
  let [isText, came] = [false, ""]
  const lacking = (why: string): Error =>
    new Error(`${why} without ${quoted(expect)}${came === "" ? "" : `: it sent ${quoted(came)}`}`)
  // A stream of bytes without an encoding yields buffers.
  for await (const part of socket as AsyncIterable<Buffer>) {
    unread = Buffer.concat([unread, part])
    for (let frame = frameIn(unread); frame !== undefined; frame = frameIn(unread)) {
      const { isLast, opcode, payload, size } = frame
      unread = unread.subarray(size)
      if (opcode === Opcode.ping) socket.write(frameOf(Opcode.pong, payload))
      if (opcode === Opcode.close) throw lacking("closed")
      if (opcode > Opcode.text + 1) continue
      if (opcode !== Opcode.more) {
        isText = opcode === Opcode.text
        message = Buffer.alloc(0)
      }
      message = Buffer.concat([message, payload])
      if (message.length > LONGEST_MESSAGE) throw lacking("sent a message of more than 1 MiB")
      if (!isLast || !isText) continue
      const line = message.toString()
      if (line.includes(expect)) return `opened, with ${quoted(expect)}`
      came ||= line
    }
  }
  throw lacking("closed")
}
