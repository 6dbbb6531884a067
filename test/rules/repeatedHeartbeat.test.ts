import { heartbeat } from "@tocsin/core/heart/admission/heartbeat"
import { AgentId, KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Labels } from "@tocsin/contract/labels/Labels"
import { decideSync } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { assert, describe, it } from "@effect/vitest"
import { forAll } from "@tocsin/testing/forAll"
import { agentRecord, incidentIdOf, keyHashOf, outboxIdOf, registrationIdOf } from "@tocsin/testing/records"
import { eventId, heartbeatOf, start } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { Duration, Effect, Schema } from "effect"
import * as fc from "fast-check"

const AGENT = AgentId.make("a")
const LATER = Instant.plus(start, Duration.seconds(30))

/** Few names and values, so that two reports are often the same, and names that every object inherits. */
const reports = fc.record({
  hostname: fc.constantFrom("web", "db"),
  features: fc.record({ push: fc.boolean(), metrics: fc.boolean() }),
  labels: fc.option(
    fc
      .dictionary(fc.constantFrom("os", "constructor", "valueOf"), fc.constantFrom("", "linux"))
      .map(Schema.decodeSync(Labels)),
    { nil: undefined },
  ),
})

const pairs = fc.oneof(
  fc.tuple(reports, reports),
  reports.map((report) => [report, report] as const),
)

type Report = typeof reports extends fc.Arbitrary<infer Value> ? Value : never

/** The agent after a heartbeat with that report. */
const agentAfter = (
  stored: Partial<AgentRecord>,
  { labels, ...reported }: Report & { readonly observed_at?: Instant.Instant },
) => {
  const before = agentRecord(AGENT, stored)
  const unit = openUnit()
  const command = heartbeat({
    request: { ...heartbeatOf(AGENT, { observed_at: LATER, ...reported }), ...(labels && { labels }) },
    key: { key_hash: keyHashOf(AGENT), key_fingerprint: KeyFingerprint.make(before.key_fingerprint) },
    rules: { ...defaultRules, notifiers: [] },
    mayRegister: false,
    incidents: {
      policy: () => compilePolicy({}, []),
      staleAfter: Duration.minutes(2),
      sha256: (text) => text,
      newEventId: () => eventId(1),
      newIncidentId: () => incidentIdOf("none"),
      newOutboxId: () => outboxIdOf("none"),
      newAuditId: signedBy("ann").newAuditId,
    },
    newRegistrationId: () => registrationIdOf("none"),
  })
  decideSync(command(unit, LATER), () => unit.agents.load(AGENT, before))
  const [change] = unit.changes().agent
  return { before, after: change?.after }
}

describe("a heartbeat of an accepted key", () => {
  it.effect("replaces what it says differently, and leaves the agent its objects if it says the same", () =>
    forAll(pairs, { runs: 300 }, ([stored, reported]) =>
      Effect.sync(() => {
        const { before, after } = agentAfter(stored, structuredClone(reported))
        assert.deepStrictEqual(after, { ...before, ...reported, observed_at: LATER, last_seen_at: LATER })
        const isRepeated = JSON.stringify(Object.entries(stored)) === JSON.stringify(Object.entries(reported))
        if (!isRepeated) return
        assert.strictEqual(after?.features, before.features)
        assert.strictEqual(after?.labels, before.labels)
      }),
    ),
  )
  it("that is older changes no word, and begins a contact after a silence", () => {
    const silentSince = Instant.minus(LATER, Duration.minutes(2))
    const earlier = { observed_at: LATER, last_seen_at: silentSince, reachable_from: silentSince }
    const { before, after } = agentAfter(earlier, {
      hostname: "db",
      features: { push: true, metrics: true },
      labels: undefined,
      observed_at: start,
    })
    assert.deepStrictEqual(after, { ...before, last_seen_at: LATER, reachable_from: LATER })
  })
})
