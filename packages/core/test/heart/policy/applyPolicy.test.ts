import { NotifierName } from "@tocsin/contract/formats/Status"
import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { signedBy } from "@tocsin/testing/signedBy"
import { applyPolicy } from "../../../src/heart/policy/applyPolicy.ts"
import { decideSync } from "../../../src/kernel/unitOfWork/Decision.ts"
import { isSearch } from "../../../src/kernel/unitOfWork/Search.ts"
import { openUnit } from "../../../src/lists/openUnit.ts"

it("applying a policy reads the newest of a hundred texts, and the one that goes", () => {
  const now = Instant.fromMicros(1n)
  const newest = { version: 203, hash: "old", text: "{}", applied_at: now, applied_by: "ann" }
  const unit = openUnit()
  const versions = unit.of("policy_version")
  const policy = { hash: "new", text: "routes: []", replaces: undefined }
  const read: Array<number> = []
  const applied = decideSync(applyPolicy(policy, "none", signedBy("ann"))(unit, now), (step) => {
    if (isSearch(step, "newestPolicy")) return newest
    assert("rows" in step)
    for (const version of step.rows?.policy_version ?? []) {
      read.push(version)
      versions.load(version, version === 103 ? { ...newest, version } : undefined)
    }
    return undefined
  })
  assert.deepInclude(applied, { outcome: "applied" })
  assert.deepStrictEqual(read, [204, 104])
})

it.each([
  [7, "applied"],
  [6, "another"],
] as const)(
  "a receiver changed in the text of version %i is stored over version 7: %s, though their hashes are equal",
  (of, outcome) => {
    const now = Instant.fromMicros(1n)
    const newest = { version: 7, hash: "same", text: "{}", applied_at: now, applied_by: "ann" }
    const receiver = { name: NotifierName.make("chat"), action: "receiver.changed" } as const
    const policy = { hash: "new", of, text: "routes: []", replaces: "same", receiver }
    const unit = openUnit()
    const applied = decideSync(applyPolicy(policy, "none", signedBy("ann"))(unit, now), (step) => {
      if (isSearch(step, "newestPolicy")) return newest
      assert("rows" in step)
      for (const version of step.rows?.policy_version ?? [])
        unit.of("policy_version").load(version, undefined)
      return undefined
    })
    assert.deepInclude(applied, { outcome })
  },
)
