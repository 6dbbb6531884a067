const TIME_DIGITS = 12

/** A UUID version 7 (RFC 9562): 48 bits of time, the rest random. */
export const newEventId = (millis: number): string => {
  const time = Math.max(0, Math.floor(millis)).toString(16).padStart(TIME_DIGITS, "0")
  // A random UUID has the variant in place; its version is replaced.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${globalThis.crypto.randomUUID().slice(15)}`
}
