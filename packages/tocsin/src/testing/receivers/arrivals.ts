import assert from "node:assert/strict"
import { mentions } from "./mentions.ts"

export const CHECKS = ["disk", "memory", "load"]

export const SAME = "a resolution looks like its firing: send the text, or event_type"
export const TEST = "a test must arrive with its text: implement test as send"

/** Fails unless one message shows the notification of these words. Alertmanager's are repeated. */
export const assertOne = (
  arrived: ReadonlyArray<{ readonly text: string; readonly isTaken: boolean }>,
  words: ReadonlyArray<string>,
  isRepeated = false,
) => {
  const found = arrived.filter(({ text }) => mentions(text, words))
  const others =
    arrived.length === 0
      ? "nothing arrived"
      : `of ${arrived.length} messages, the last is: ${arrived.at(-1)?.text}`
  assert.ok(
    isRepeated ? found.length > 0 : found.length === 1,
    `one message must have "${words[0]}" or the incident's key: ${found.length} have it; ${others}`,
  )
}
