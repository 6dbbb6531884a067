import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import type { Entries } from "@tocsin/adapter-memory/keyValue/entries"

export type Rows = ReadonlyMap<string, string>

/** Bytes for which a text of base64 has so many characters. */
const BASE64_SHARE = 3 / 4

/** A text as Tocsin writes it, of so many characters and some more, which cannot be compressed much. */
export const textOf = (size: number): string =>
  JSON.stringify({ output: randomBytes(Math.ceil(size * BASE64_SHARE)).toString("base64") })

const keyOf = (row: number): string => `check_state/web-1/check-${row}/0`

/** Changes of the rows from `first` on; `text` of each row, or `undefined` to delete it. */
export const changesOf = (
  { first = 0, count }: { readonly first?: number; readonly count: number },
  text: (row: number) => string | undefined,
): Entries =>
  new Map(Array.from({ length: count }, (_, index) => [keyOf(first + index), text(first + index)]))

export const apply = (rows: Map<string, string>, changes: Entries): void => {
  for (const [key, text] of changes) {
    if (text === undefined) rows.delete(key)
    else rows.set(key, text)
  }
}

export const after = (rows: Rows, changes: Entries): Rows => {
  const next = new Map(rows)
  apply(next, changes)
  return next
}

const SHOWN = 160
const short = (text: string | undefined): string => JSON.stringify(text?.slice(0, SHOWN)) ?? "nothing"

/** The advice where a store does not have what it acknowledged. */
export const AWAIT = "await each step in write before it resolves"

/** The difference of rows in words; `undefined` if there is none. */
const difference = (found: Rows, expected: Rows): string | undefined => {
  const keys = new Set([...expected.keys(), ...found.keys()])
  const wrong = Array.from(keys).filter((key) => found.get(key) !== expected.get(key))
  const [first] = wrong
  if (first === undefined) return undefined
  const shown = `${short(first)} has ${short(found.get(first))} instead of ${short(expected.get(first))}`
  return `${wrong.length} of ${keys.size} keys are wrong; ${shown}`
}

export const isAlike = (found: Rows, expected: Rows): boolean => difference(found, expected) === undefined

export const assertRows = (found: Rows, expected: Rows, when: string): void => {
  const wrong = difference(found, expected)
  if (wrong === undefined) return
  const isLost = Array.from(expected.keys()).some((key) => !found.has(key))
  assert.fail(
    `${isLost ? `the store lacks rows whose write has resolved: ${AWAIT}, and keep keys as they are; ` : ""}${when}: ${wrong}`,
  )
}

/** The one of two states in which a store is. Fails if it is in neither. */
export const stateOf = (found: Rows, [before, next]: readonly [Rows, Rows], when: string): Rows => {
  const [wrongBefore, wrongAfter] = [difference(found, before), difference(found, next)]
  if (wrongAfter === undefined) return next
  if (wrongBefore === undefined) return before
  return assert.fail(
    `${when}: the store has a part of the changes. As before, ${wrongBefore}. As after, ${wrongAfter}`,
  )
}
