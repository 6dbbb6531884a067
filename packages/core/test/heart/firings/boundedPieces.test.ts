import { assert, describe, it } from "@effect/vitest"
import { type IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { incidentRecord } from "@tocsin/testing/records"
import { piecesOf } from "../../../src/heart/firings/loudMembers.ts"

const ofMembers = (count: number): IncidentRecord =>
  incidentRecord(`of ${count}`, { members_critical: count, member_changes: count })

/** The sizes of the pieces that incidents with so many members are evaluated in. */
const pieces = (counts: ReadonlyArray<number>, most: number): ReadonlyArray<ReadonlyArray<number>> =>
  piecesOf(counts.map(ofMembers), most).map((piece) => piece.map(({ members_critical }) => members_critical))

describe("a piece of incidents", () => {
  it("has as many as have so many members together, and at least one", () => {
    assert.deepStrictEqual(pieces([400, 400, 400], 1_000), [[400, 400], [400]])
    assert.deepStrictEqual(pieces([500, 1, 499, 500], 500), [[500], [1, 499], [500]])
    assert.deepStrictEqual(pieces([500], 10), [[500]])
    assert.deepStrictEqual(pieces([], 10), [])
  })

  it("counts of too many members only those that are read", () => {
    assert.deepStrictEqual(pieces([90_000, 90_000, 90_000], 1_000), [[90_000, 90_000], [90_000]])
  })
})
