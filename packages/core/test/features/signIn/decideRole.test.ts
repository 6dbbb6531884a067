import { assert, describe, it } from "@effect/vitest"
import type { Role } from "@tocsin/contract/operators/Operators"
import type { Claims, SignInRules } from "@tocsin/core/features/signIn/SignInIssuer"
import { actorName } from "@tocsin/core/features/signIn/sessionDecisions"
import { decideRole, isComplete } from "@tocsin/core/features/signIn/Sessions"
import * as fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"

const RULES: SignInRules = {
  claim: "groups",
  values: { admin: ["ops-admins"], respond: ["ops", "on call"], read: ["staff"] },
}
const outcome = (claims: ReadonlyArray<Claims>, rules: Partial<SignInRules> = {}) => {
  const decided = decideRole({ ...RULES, ...rules }, claims)
  return "role" in decided ? decided.role : decided.refusal
}
const EVERYONE = { ...RULES.values, read: ["*"] }
const POINTER = { claim: "/realm_access/roles" }

describe("the role of a person", () => {
  it.each<[string, string, ReadonlyArray<Claims>, Partial<SignInRules>?]>([
    ["is the highest that a value gives", "admin", [{ groups: ["staff", "ops-admins", "ops"] }]],
    ["may be given by a text", "respond", [{ groups: "on call" }]],
    ["is none for other values", "role", [{ groups: ["OPS", "ops "] }]],
    ["is none for an absent claim", "role", [{}]],
    ["may be given by the keys of an object", "respond", [{ groups: { ops: { id: "x" }, other: "" } }]],
    ["is none for numbers, objects and lists in lists", "role", [{ groups: [1, { a: "ops" }, ["ops"]] }]],
    ["is none for an inherited property", "role", [{}], { claim: "constructor" }],
    ["follows a pointer", "respond", [{ realm_access: { roles: ["ops"] } }], POINTER],
    ["unescapes a pointer", "respond", [{ "a/b": { "c~d": "ops" } }], { claim: "/a~1b/c~0d" }],
    [
      "does not take a name for a pointer",
      "respond",
      [{ "https://x/groups": "ops" }],
      { claim: "https://x/groups" },
    ],
    ["is that of userinfo where the ID token lacks the claim", "read", [{}, { groups: ["staff"] }]],
    ["is that of the ID token where both have the claim", "role", [{ groups: [] }, { groups: ["staff"] }]],
    ["is everyone's for *, without the claim", "read", [{}], { values: EVERYONE }],
    ["is the higher one also for *", "respond", [{ groups: ["ops"] }], { values: EVERYONE }],
    ["is not that of a group that is called *", "role", [{ groups: ["*"] }]],
    ["is unknown where the groups are elsewhere", "overage", [{ _claim_names: { groups: "src1" } }]],
    ["is unknown then also for *", "overage", [{ _claim_names: { groups: "src1" } }], { values: EVERYONE }],
    [
      "is known where another claim is elsewhere",
      "respond",
      [{ groups: "ops", _claim_names: { x: "src1" } }],
    ],
  ])("%s", (_, expected, claims, rules) => {
    assert.strictEqual(outcome(claims, rules), expected)
  })

  it("needs the claim that everyone must have, whatever the groups", () => {
    const required = { claim: "hd", value: "example.org" }
    for (const hd of [undefined, "example.com", "example.org.evil", ["other"]])
      assert.strictEqual(
        outcome([{ groups: "ops-admins", ...(hd !== undefined && { hd }) }], { required }),
        "requirement",
      )
    assert.strictEqual(outcome([{ groups: "ops-admins", hd: "example.org" }], { required }), "admin")
    assert.strictEqual(outcome([{ groups: "ops-admins" }, { hd: "example.org" }], { required }), "admin")
  })

  it("takes a truth value of the claim that everyone must have", () => {
    const required = { claim: "email_verified", value: "true" }
    const of = (email_verified: unknown) => outcome([{ groups: "ops", email_verified }], { required })
    assert.deepStrictEqual([true, "true", false, 1].map(of), [
      "respond",
      "respond",
      "requirement",
      "requirement",
    ])
    assert.deepInclude(decideRole({ ...RULES, required }, [{ email_verified: false }]), { values: ["false"] })
  })

  it.each([
    [[{ id: "a" }], "a list without texts"],
    [[7], "a list without texts"],
    [7, "a number"],
    [null, "null"],
    [[], undefined],
    [undefined, undefined],
  ])("names the type of a claim that has no text: %j", (groups, type) => {
    const decided = decideRole(RULES, [{ groups }])
    assert.strictEqual("type" in decided ? decided.type : undefined, type)
  })

  it("names the values that came instead", () => {
    assert.deepStrictEqual(decideRole(RULES, [{ groups: ["x", "y"] }]), {
      refusal: "role",
      values: ["x", "y"],
    })
  })

  it("is what a naive reading of the lists gives, and never grows with fewer groups", () => {
    const GROUPS = ["a", "b", "c", "d", "*"]
    const some = fc.subarray(GROUPS)
    const roles = ["read", "respond", "admin"] as const satisfies ReadonlyArray<Role>
    const naive = (values: SignInRules["values"], groups: ReadonlyArray<string>) =>
      roles.findLast(
        (role) =>
          values[role].includes("*") || groups.some((group) => group !== "*" && values[role].includes(group)),
      )
    fc.assert(
      fc.property(
        fc.record({ admin: some, respond: some, read: some }),
        some,
        fc.nat(),
        (values, groups, drop) => {
          const roleOf = (given: ReadonlyArray<string>) => {
            const decided = decideRole({ claim: "groups", values }, [{ groups: given }])
            return "role" in decided ? decided.role : undefined
          }
          assert.strictEqual(roleOf(groups), naive(values, groups))
          const fewer = groups.filter((_, index) => index !== drop % (groups.length + 1))
          const rank = (role: Role | undefined) => (role === undefined ? -1 : roles.indexOf(role))
          assert.isAtMost(rank(roleOf(fewer)), rank(roleOf(groups)))
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})

describe("userinfo", () => {
  it("is asked only where the ID token lacks a name or a claim", () => {
    const whole = { groups: [], email: "ann@example.org", email_verified: true }
    assert.isTrue(isComplete(RULES, whole))
    assert.isFalse(isComplete(RULES, { groups: [] }))
    assert.isFalse(isComplete(RULES, { ...whole, email_verified: undefined }))
    assert.isFalse(isComplete(RULES, { email: "ann@example.org", email_verified: true }))
    assert.isFalse(isComplete({ ...RULES, required: { claim: "hd", value: "x" } }, whole))
  })
})

describe("the name of a person", () => {
  it.each<[string, ReadonlyArray<Claims>]>([
    ["oidc:ann", [{ preferred_username: "Ann", email: "x@example.org" }]],
    ["oidc:ann_example.org", [{ email: "Ann@Example.org", email_verified: true }]],
    ["oidc:ann_example.org", [{ email: "Ann@Example.org", email_verified: "true" }]],
    ["oidc:7f3_a", [{ email: "ann@example.org" }, { email_verified: true }]],
    ["oidc:7f3_a", [{ email: "ann@example.org", email_verified: false }]],
    ["oidc:ann", [{ preferred_username: " " }, { preferred_username: "ann" }]],
    ["oidc:an__d_r_", [{ preferred_username: "an :d/r😀" }]],
    ["oidc:ann_lee", [{ name: "Ann Lee" }]],
    ["oidc:ann", [{ name: "Ann Lee" }, { name: "Ann Lee", preferred_username: "ann" }]],
    ["oidc:7f3_a", [{ name: " " }]],
    ["oidc:7f3_a", [{ preferred_username: 7 }]],
    [`oidc:${"a".repeat(51)}`, [{ preferred_username: "A".repeat(9_999) }]],
    ["oidc:yamada", [{ preferred_username: "山田", name: "Yamada" }]],
    ["oidc:7f3_a", [{ preferred_username: "山田" }]],
    ["oidc:token-5f6a1b2c", [{ preferred_username: "token-5f6a1b2c" }]],
  ])("is %s", (expected, claims) => {
    assert.strictEqual(actorName(claims, "7f3|A"), expected)
  })
})
