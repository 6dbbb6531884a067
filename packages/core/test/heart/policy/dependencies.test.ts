import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { MatchedFacts, Matcher } from "@tocsin/contract/labels/Matcher"
import type { Dependency } from "@tocsin/contract/policy/PolicyDocument"
import { compileDependencies, emptySearches, listed } from "../../../src/heart/policy/dependencies.ts"

const is = (field: Matcher["field"], value: string): Matcher => ({ field, op: "=", value })

/** The search for parents of facts, without its empty lists. */
const searchFor = (rule: Omit<Dependency, "child">, facts: Partial<MatchedFacts>) => {
  const search = emptySearches()
  for (const one of compileDependencies([{ ...rule, child: [] }]).rules) one.addTo(search, facts)
  const found = Object.entries(listed(search))
  return Object.fromEntries(found.filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value)))
}

describe("the search for the parents of an incident", () => {
  const web = { agent_id: AgentId.make("web"), hostname: "web-1", labels: { site: "a" } }
  const gate = [is("label:role", "gate")]

  it("reads by the values of the child, and by those that parents must have", () => {
    const labels = { role: "gate", site: "a" }
    const bySite = { parent: gate, equal: ["label:site"] } as const
    assert.deepStrictEqual(searchFor(bySite, web), { labelled: [{ labels, check_id: undefined }] })
    const ofCheck = { ...bySite, parent: [...gate, is("check_id", "uplink")] }
    assert.deepStrictEqual(searchFor(ofCheck, web), { labelled: [{ labels, check_id: "uplink" }] })
    assert.deepStrictEqual(searchFor({ parent: gate, equal: ["hostname"] }, web), { hostnames: ["web-1"] })
    assert.deepStrictEqual(searchFor({ parent: gate, equal: ["agent_id"] }, web), { agents: ["web"] })
    assert.deepStrictEqual(searchFor({ parent: [is("hostname", "gate-1")] }, web), { hostnames: ["gate-1"] })
  })

  it("reads stale agents if one of several rules takes them, whatever their order", () => {
    const ofHosts = { parent: [is("incident_key", "gate/@heartbeat")] }
    const bySite = { parent: gate, equal: ["label:site"] } as const
    const takesStale = (...rules: Parameters<typeof compileDependencies>[0]) => {
      const search = emptySearches()
      for (const one of compileDependencies(rules).rules) one.addTo(search, web)
      return search.takesStale
    }
    const [first, second] = [
      { ...ofHosts, child: [] },
      { ...bySite, child: [] },
    ] as const
    assert.deepStrictEqual(
      [takesStale(first, second), takesStale(second, first), takesStale(second)],
      [true, true, false],
    )
  })

  it("reads nothing for an empty value, which equals none, and everything for a label that parents lack", () => {
    assert.deepStrictEqual(searchFor({ parent: gate, equal: ["label:rack"] }, web), {})
    assert.deepStrictEqual(searchFor({ parent: [is("label:role", "")], equal: ["severity"] }, web), {})
    const inAll = searchFor({ parent: [is("label:role", "")], equal: ["severity"] }, { severity: "critical" })
    assert.deepStrictEqual(inAll, { isAll: true })
  })
})
