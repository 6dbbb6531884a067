/// <reference lib="es2024.string" />
import { failureHeadline, markerOf } from "./headline.ts"
import { readPerformance } from "./performanceData.ts"

/** The length of `text` in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= 0x7f) continue
    if (unit <= 0x7ff) {
      bytes += 1
    } else if (isPairAt(text, index)) {
      bytes += 2
      index += 1
    } else {
      bytes += 2
    }
  }
  return bytes
}

const isPairAt = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00

export const MAX_OUTPUT_BYTES = 8192

export const isShortOutput = (text: string): boolean =>
  // A code unit takes one to three bytes, so most texts need no walk.
  text.length <= MAX_OUTPUT_BYTES &&
  (text.length * 3 <= MAX_OUTPUT_BYTES || utf8Length(text) <= MAX_OUTPUT_BYTES)

/** `text` with a space for NUL and U+FFFD for a lone surrogate, which some storages refuse. */
export const cleanOutput = (text: string): string => {
  const wellFormed = text.toWellFormed()
  // Looking first costs a fifth of a replacement that finds nothing.
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", " ") : wellFormed
}

/** An output, and whether it lacks a part; none where it is empty. */
interface CutOutput {
  readonly output?: string
  readonly output_truncated: boolean
}

const wholeOutput = (text: string): CutOutput => ({
  ...(text !== "" && { output: cleanOutput(text) }),
  output_truncated: false,
})

const fitting = (characters: ReadonlyArray<string>, room: number): ReadonlyArray<string> => {
  let [kept, size] = [0, 0]
  for (const character of characters) {
    size += utf8Length(character)
    if (size > room) break
    kept += 1
  }
  return characters.slice(0, kept)
}

/** Performance data that begin in the second half of a long output, or behind it, in as many whole words as a half has. */
const dataBehind = (text: string): string => {
  const half = MAX_OUTPUT_BYTES / 2
  // A text has its data behind the first bar of its first line, and of the lines that follow.
  const end = text.search(/[\r\n]/u)
  const bars = [text.indexOf("|"), end < 0 ? -1 : text.indexOf("|", end)]
  const at = bars.find((bar) => bar >= 0 && utf8Length(text.slice(0, bar)) >= half)
  if (at === undefined) return ""
  const kept = fitting(Array.from(text.slice(at, at + half)), half).join("")
  const whole = at + kept.length === text.length ? kept : kept.slice(0, kept.search(/\s\S*$/u))
  return readPerformance(whole.slice(1)).some((one) => one !== undefined) ? whole : ""
}

/**
 * The beginning of a text that is too long for an output, before a marker: an alert begins with its summary.
 * Performance data that it would lose follow the marker. `droppedBytes` followed the text, or were in its middle.
 */
export const firstOutput = (text: string, { droppedBytes = 0, between = "\n" } = {}): CutOutput => {
  if (droppedBytes === 0 && isShortOutput(text)) return wholeOutput(text)
  const all = utf8Length(text) + droppedBytes
  const data = dataBehind(text)
  const [before, after] = data === "" ? [between, ""] : ["\n", `\n${data}`]
  const room = MAX_OUTPUT_BYTES - utf8Length(`${before}${markerOf(all)}${after}`)
  // A code unit takes a byte at least: no more of them fit, and a half of a pair that is cut does not.
  const kept = fitting(Array.from(text.slice(0, room)), room).join("")
  const marker = markerOf(all - utf8Length(kept) - utf8Length(data))
  return { output: cleanOutput(`${kept}${before}${marker}${after}`), output_truncated: true }
}

/** How a job ended, if it failed, and the bytes that preceded its text. */
interface JobEnd {
  readonly end?: string | undefined
  readonly droppedBytes?: number
}

/**
 * The output of a job: where it failed, its headline; then the end of its text, behind a marker if that is too
 * long.
 */
export const lastOutput = (text: string, { end, droppedBytes = 0 }: JobEnd = {}): CutOutput => {
  const head = end === undefined ? [] : [failureHeadline(end, text)]
  const whole = [...head, ...(text === "" ? [] : [text])].join("\n")
  if (droppedBytes === 0 && isShortOutput(whole)) return wholeOutput(whole)
  const all = utf8Length(text) + droppedBytes
  const room = MAX_OUTPUT_BYTES - utf8Length([...head, markerOf(all), ""].join("\n"))
  const kept = fitting(Array.from(text.slice(-room)).toReversed(), room)
    .toReversed()
    .join("")
  const lines = [...head, markerOf(all - utf8Length(kept)), kept]
  return { output: cleanOutput(lines.join("\n")), output_truncated: true }
}
