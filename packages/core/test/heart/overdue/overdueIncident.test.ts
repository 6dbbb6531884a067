import { assert, describe, it } from "@effect/vitest"
import type { ExpectedIncident } from "@tocsin/contract/overdue/Expectations"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { areCutOff, incidentOf, ownOverdueRef } from "../../../src/heart/overdue/overdueIncident.ts"

const at = (minute: number): Instant.Instant => Instant.fromMillis(minute * 60_000)

describe("jobs are cut off", () => {
  it.each([
    { alone: [], last: undefined, is: false, why: "nothing is overdue" },
    { alone: [1, 2, 3, 4], last: undefined, is: false, why: "four stand alone" },
    { alone: [1, 2, 3, 4, 5], last: undefined, is: true, why: "five stand alone, and nothing ever reported" },
    { alone: [5, 3, 1, 2, 4], last: 0, is: true, why: "the last report came before the first was due" },
    { alone: [5, 3, 1, 2, 4], last: 1, is: false, why: "one reported when the first was due" },
    { alone: [5, 3, 1, 2, 4], last: 9, is: false, why: "one reports" },
    { alone: [1, 6, 7, 8, 9, 10], last: 5, is: true, why: "of six, the five that were due last count" },
    { alone: [1, 2, 3, 4, 5, 99], last: 2, is: false, why: "an old one is the first of the five" },
    { alone: [7, 7, 7, 7, 7], last: 6, is: true, why: "all were due at one moment" },
  ])("$is: $why", ({ alone, is, last }) => {
    assert.strictEqual(areCutOff(alone.map(at), last === undefined ? undefined : at(last)), is)
  })
})

describe("the incident of an overdue check", () => {
  const terms = { after_millis: 1, severity: "unknown", notifications_enabled: true } as const
  const cron = { ...terms, cron: "0 3 * * *", tz: "UTC" }
  const of = (kind: "alertmanager" | "ping" | "push" | "watch" | "webhook", incident?: ExpectedIncident) => ({
    kind,
    options: incident === undefined ? {} : { incident },
  })

  it.each([
    { terms, integration: undefined, is: "agent" },
    { terms: cron, integration: undefined, is: "own" },
    { terms, integration: of("ping"), is: "own" },
    { terms, integration: of("push"), is: "own" },
    { terms, integration: of("watch"), is: "agent" },
    { terms, integration: of("alertmanager"), is: "agent" },
    { terms, integration: of("webhook"), is: "agent" },
    { terms: cron, integration: of("webhook"), is: "own" },
    { terms, integration: of("alertmanager", "own"), is: "own" },
    { terms: cron, integration: of("ping", "agent"), is: "agent" },
    { terms: { ...terms, incident: "own" as const }, integration: of("ping", "agent"), is: "own" },
    { terms: { ...cron, incident: "agent" as const }, integration: undefined, is: "agent" },
  ])("is $is with $integration and $terms", ({ integration, is, terms: given }) => {
    assert.strictEqual(incidentOf({ terms: given }, integration), is)
  })

  it("has a hash for a key where its name is longer than 256 characters", () => {
    const keyOf = (agent: number, check: number) =>
      ownOverdueRef(
        { agent_id: AgentId.make("a".repeat(agent)), check_id: CheckId.make("c".repeat(check)) },
        () => "hash",
      ).incident_key
    assert.strictEqual(keyOf(1, 1), "a/c/@overdue")
    assert.strictEqual(keyOf(128, 118).length, 256)
    assert.strictEqual(keyOf(128, 119), "sha256:hash")
  })
})
