/** Bytes of output that the server takes (docs/rules.md#values). */
const MAX_OUTPUT_BYTES = 8_192

/** Room for the marker, with a number of any length. */
const MARKER_BYTES = 40

/** An output that fits, and whether it was cut. */
export interface CutOutput {
  readonly text: string
  readonly isCut: boolean
}

/**
 * Cuts an output between characters and marks it `...[truncated N bytes]`. `droppedBytes` were lost
 * before and count as cut.
 */
export const cutOutput = (output: string, droppedBytes = 0): CutOutput => {
  // A lone surrogate becomes U+FFFD here, which takes the three bytes that the server counts.
  const whole = new TextEncoder().encode(output)
  if (whole.length <= MAX_OUTPUT_BYTES && droppedBytes === 0) return { text: textOf(whole), isCut: false }
  let end = Math.min(whole.length, MAX_OUTPUT_BYTES - MARKER_BYTES)
  while (end > 0 && end < whole.length && isContinuation(whole[end])) end -= 1
  const lost = whole.length - end + droppedBytes
  return { text: `${textOf(whole.subarray(0, end))}...[truncated ${lost} bytes]`, isCut: true }
}

const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80

// A byte order mark is text here.
const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
