import { STATUS_CODES } from "node:http"
import type { WrittenAnswer } from "./DirectAnswer.ts"

const MILLIS_PER_SECOND = 1_000

let second = 0
let date = ""

/** A time as the field Date has it. */
const httpDate = (millis: number): string => {
  const now = Math.floor(millis / MILLIS_PER_SECOND)
  if (now !== second) {
    second = now
    date = new Date(now * MILLIS_PER_SECOND).toUTCString()
  }
  return date
}

/** What an answer tells besides itself. */
export interface AnsweredAt {
  readonly millis: number
  readonly keepAliveSeconds: number
}

/** An answer as bytes of HTTP/1.1, as node:http would write them. */
export const answerText = (
  { status, fields, body }: WrittenAnswer,
  { millis, keepAliveSeconds }: AnsweredAt,
): string => {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in fields) text += `${name}: ${fields[name]}\r\n`
  text += `Date: ${httpDate(millis)}\r\n`
  if (fields["connection"] === undefined)
    text += `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`
  return `${text}\r\n${body}`
}
