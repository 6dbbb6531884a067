import { NEVER, type SortValue } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListName,
  type ListQuery,
  orderColumns,
  type Position,
} from "@tocsin/core/lists/ListDefinitions"
import { createHash } from "node:crypto"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { type CursorSide, decodeCursor, encodeCursor } from "@tocsin/core/kernel/engine/lists/Cursor"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { boolean, integer, oneOf } from "../properties/arbitraries.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The cursors of one query, and their operations. */
const cursorsOf = <L extends ListName>(query: ListQuery<L>) => ({
  types: orderColumns(query.list, query.sort).map((column) => column.type),
  encode: (side: CursorSide, position: Position) => encodeCursor(query, side, position, sha256),
  decode: (side: CursorSide, cursor: string) =>
    decodeCursor(query, orderColumns(query.list, query.sort), side, cursor, sha256),
})

const agent_id = AgentId.make("a")
const check_id = CheckId.make("a")

/** Queries that differ from one another in a single respect each. */
const queries = [
  cursorsOf({ list: "agents", filter: {}, sort: "agent_id", direction: "asc" }),
  cursorsOf({ list: "checks", filter: {}, sort: "agent_id", direction: "asc" }),
  cursorsOf({ list: "checks", filter: { agent_id }, sort: "agent_id", direction: "asc" }),
  cursorsOf({ list: "history", filter: {}, sort: "stored", direction: "desc" }),
  cursorsOf({ list: "history", filter: { agent_id }, sort: "stored", direction: "desc" }),
  cursorsOf({ list: "history", filter: { check_id }, sort: "stored", direction: "desc" }),
  cursorsOf({ list: "history", filter: { agent_id, check_id }, sort: "stored", direction: "desc" }),
  cursorsOf({ list: "incidents", filter: {}, sort: "status", direction: "desc" }),
  cursorsOf({ list: "incidents", filter: {}, sort: "status", direction: "asc" }),
  cursorsOf({ list: "incidents", filter: {}, sort: "opened_at", direction: "desc" }),
  cursorsOf({ list: "incidents", filter: {}, sort: "resolved_at", direction: "desc" }),
  cursorsOf({ list: "incidents", filter: { state: "open" }, sort: "opened_at", direction: "desc" }),
  cursorsOf({ list: "incidents", filter: { severity: "unknown" }, sort: "opened_at", direction: "desc" }),
  cursorsOf({ list: "outbox", filter: {}, sort: "created_at", direction: "desc" }),
  cursorsOf({ list: "outbox", filter: {}, sort: "updated_at", direction: "desc" }),
  cursorsOf({ list: "outbox", filter: { notifier: "debug" }, sort: "updated_at", direction: "desc" }),
  cursorsOf({ list: "blacklist", filter: {}, sort: "stored", direction: "desc" }),
] as const

const LONGEST_ID = 128
const LONGEST_CURSOR = 512
const MICROS_OF_YEAR_1 = -62_135_596_800_000_000n
const MICROS_OF_YEAR_9999 = 253_402_300_799_999_999n

const id = Arbitrary.map(
  Arbitrary.all({ length: integer(1, LONGEST_ID), letter: oneOf("a", "Z", "0", ".", "_", ":", "-") }),
  ({ length, letter }) => letter.repeat(length),
)

const instant = Arbitrary.map(
  Arbitrary.all({ day: integer(-719_162, 2_932_896), micro: integer(0, 86_399_999_999), isNever: boolean }),
  ({ day, micro, isNever }) => (isNever ? NEVER : BigInt(day) * 86_400_000_000n + BigInt(micro)),
)

const cursor = Arbitrary.map(
  Arbitrary.all({
    query: oneOf(...queries),
    side: oneOf("next", "prev"),
    isInclusive: boolean,
    texts: Arbitrary.all([id, id]),
    numbers: Arbitrary.all([integer(0, 1), integer(0, Number.MAX_SAFE_INTEGER)]),
    bigint: instant,
  }),
  ({ query, side, isInclusive, texts, numbers, bigint }) => {
    const left = { text: [...texts], number: [...numbers], bigint: [bigint] }
    const values = query.types.map((type): SortValue => left[type].shift() ?? 0)
    const position: Position = { values, isInclusive }
    return { query, side, position, text: query.encode(side, position) }
  },
)

const arbitrary = { runs: propertyRuns(300), size: LONGEST_ID, maxShrinks: 1_000 }

describe("a cursor", () => {
  it.prop(
    "leads back to its position, in at most 512 characters that need no escaping",
    { cursor },
    ({ cursor: { query, side, position, text } }) => {
      assert.deepStrictEqual(query.decode(side, text), Result.succeed(position))
      assert.match(text, /^[A-Za-z0-9_-]+$/)
      assert.isAtMost(text.length, LONGEST_CURSOR)
    },
    { arbitrary },
  )

  it.each(queries)("of query %# is short enough with the longest values", (query) => {
    const longest = {
      text: "x".repeat(LONGEST_ID),
      number: Number.MAX_SAFE_INTEGER,
      bigint: MICROS_OF_YEAR_1,
    }
    const values = query.types.map((type) => longest[type])
    assert.isAtMost(query.encode("next", { values, isInclusive: false }).length, LONGEST_CURSOR)
    for (const bigint of [MICROS_OF_YEAR_9999, NEVER, 0n]) {
      const position = {
        values: query.types.map((type) => ({ ...longest, bigint })[type]),
        isInclusive: true,
      }
      assert.deepStrictEqual(query.decode("prev", query.encode("prev", position)), Result.succeed(position))
    }
  })

  it.prop(
    "is refused in the other direction and by every other query",
    { cursor },
    ({ cursor: { query, side, text } }) => {
      assert.isTrue(Result.isFailure(query.decode(side === "next" ? "prev" : "next", text)))
      for (const other of queries) {
        if (other !== query) assert.isTrue(Result.isFailure(other.decode(side, text)))
      }
    },
    { arbitrary },
  )

  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

  it.prop(
    "is refused when any character is changed, removed or added",
    { cursor, by: integer(1, ALPHABET.length - 1), foreign: oneOf("=", "+", "/", " ", "\n", "%", "é", ".") },
    ({ cursor: { query, side, text }, by, foreign }) => {
      const accepts = (changed: string): boolean => Result.isSuccess(query.decode(side, changed))
      const accepted = Array.from({ length: text.length + 1 }, (_, at) => {
        const before = text.slice(0, at)
        const after = text.slice(at + 1)
        const place = ALPHABET.indexOf(text.charAt(at))
        // The neighbour too: of a last character some bits carry nothing.
        const others = [by, 1].map((step) => ALPHABET.charAt((place + step) % ALPHABET.length))
        const replaced =
          at < text.length ? [...others, foreign, ""].map((other) => before + other + after) : []
        const inserted = ["A", foreign].map((other) => before + other + text.slice(at))
        return [...replaced, ...inserted].filter((changed) => changed !== text && accepts(changed))
      })
      assert.deepStrictEqual(accepted.flat(), [])
    },
    { arbitrary: { ...arbitrary, runs: propertyRuns(30) } },
  )

  it.prop(
    "that is random text is refused",
    {
      query: oneOf(...queries),
      side: oneOf("next", "prev"),
      places: Arbitrary.array(integer(0, ALPHABET.length - 1), { maxLength: 64 }),
    },
    ({ query, side, places }) => {
      const text = places.map((place) => ALPHABET.charAt(place)).join("")
      assert.isTrue(Result.isFailure(query.decode(side, text)))
    },
    { arbitrary },
  )
})
