import { randomBytes } from "node:crypto"

const TIME_BYTES = 6

/** A UUID version 7 (RFC 9562): 48 bits of time, the rest random. */
export const newEventId = (millis: number): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Math.max(0, millis), 0, TIME_BYTES)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
