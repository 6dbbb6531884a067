/// <reference lib="es2024.string" />
import type { MailField } from "@tocsin/core/features/integrations/mail/Mail"
import { decodeWords } from "postal-mime"

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const TAB = 9

/** More of a head is not read: it is no head of a mail. */
const LONGEST_HEAD = 262_144
const MOST_FIELDS = 1_000
const LONGEST_VALUE = 8_192

const utf8 = new TextDecoder("utf-8", { fatal: true })
const windows1252 = new TextDecoder("windows-1252")

/** Bytes of which no charset is stated: UTF-8, or Windows-1252 if they are none. */
export const decodeBytes = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    return windows1252.decode(bytes)
  }
}

interface Head {
  readonly fields: ReadonlyArray<MailField>
  /** Where the text begins. */
  readonly end: number
}

interface Line {
  readonly bytes: Uint8Array
  readonly next: number
}

const lineAt = (mail: Uint8Array, start: number): Line => {
  const found = mail.indexOf(LF, start)
  const end = found === -1 ? mail.length : found
  const isCrlf = end > start && mail[end - 1] === CR
  return { bytes: mail.subarray(start, isCrlf ? end - 1 : end), next: found === -1 ? end : found + 1 }
}

const valueOf = (lines: ReadonlyArray<Uint8Array>): string => {
  const value = lines.map(decodeBytes).join("").slice(0, LONGEST_VALUE).toWellFormed()
  return decodeWords(value).trim().slice(0, LONGEST_VALUE).toWellFormed()
}

/** The fields of a mail in their order, decoded, each on one line. */
export const readFields = (mail: Uint8Array): Head => {
  const found: Array<{ readonly name: string; readonly lines: Array<Uint8Array> }> = []
  let at = 0
  while (at < mail.length && at < LONGEST_HEAD) {
    const { bytes, next } = lineAt(mail, at)
    at = next
    if (bytes.length === 0) break
    if (bytes[0] === SPACE || bytes[0] === TAB) {
      found.at(-1)?.lines.push(bytes)
      continue
    }
    const colon = bytes.indexOf(COLON)
    if (colon < 1 || found.length >= MOST_FIELDS) continue
    const name = decodeBytes(bytes.subarray(0, colon)).trim().toLowerCase()
    found.push({ name, lines: [bytes.subarray(colon + 1)] })
  }
  return { end: at, fields: found.map(({ lines, name }) => [name.slice(0, 256), valueOf(lines)]) }
}

// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/gu

/** A text in lines, with spaces for control characters. */
export const plainLines = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").replace(CONTROLS, " ").toWellFormed()
