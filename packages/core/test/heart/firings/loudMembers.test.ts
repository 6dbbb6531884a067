import { assert, it } from "@effect/vitest"
import { incidentRecord, memberRecord } from "@tocsin/testing/records"
import { loudFacts, readLoudMembers } from "../../../src/heart/firings/loudMembers.ts"
import { decideSync } from "../../../src/kernel/unitOfWork/Decision.ts"
import { isSearch } from "../../../src/kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../../src/kernel/unitOfWork/UnitOfWork.ts"
import { openUnit } from "../../../src/lists/openUnit.ts"

const incident = incidentRecord("shared", { members_critical: 900, member_changes: 900 })
const members = Array.from({ length: 900 }, (_, n) =>
  memberRecord({ incident: "shared", agent: "web", check: `check-${n}` }),
)

/** Reads the loud members as a storage answers, and counts its reads. */
const readIn = (unit: UnitOfWork) => {
  let reads = 0
  return () => {
    const found = decideSync(readLoudMembers(unit, [incident], { limit: 500 }), (step) => {
      assert(isSearch(step, "loudMembers"))
      reads += 1
      const answer = ({ limit }: { readonly limit: number }) =>
        members.slice(0, limit).map((member) => ({ member, agent: undefined, labels: undefined }))
      return new Map(step.asked.map((asked) => [asked.incident_id, answer(asked)]))
    })
    return { reads, found: found.get(incident.id) ?? [] }
  }
}

it("250 changes of a locked incident see each of them, and 200 read its loud members once", () => {
  const unit = openUnit()
  unit.loadIncident(incident, [], [])
  const read = readIn(unit)
  for (const member of members.slice(0, 200)) {
    unit.members.put({ ...member, left_at: incident.opened_at })
    const { found } = read()
    assert.lengthOf(found, 500)
    assert.isFalse(found.some((loud) => loud.member.check_id === member.check_id))
  }
  assert.strictEqual(read().reads, 1)
  for (const member of members.slice(200, 250)) {
    unit.members.put({ ...member, left_at: incident.opened_at })
    assert.lengthOf(read().found, 500)
  }
})

it("an incident of 500 members is compared by each of them, and a larger one by what they share", () => {
  const kindOf = (members_critical: number) => {
    const loud = members.slice(0, 1).map((member) => ({ member, agent: undefined, labels: undefined }))
    return loudFacts({ ...incident, members_critical }, loud).kind
  }
  assert.deepStrictEqual([500, 501].map(kindOf), ["listed", "too_many"])
})

it("an incident that is not locked is read each time", () => {
  const read = readIn(openUnit())
  read()
  assert.strictEqual(read().reads, 2)
})
