import { expect, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { incidentRecord, memberRecord, outboxRecord } from "@tocsin/testing/records"
import { Duration, Result } from "effect"
import { nameReceivers } from "../../../src/heart/firings/nameReceivers.ts"
import type { IncidentRecord } from "../../../src/heart/model/IncidentRecord.ts"
import type { OutboxRecord } from "../../../src/heart/model/OutboxRecord.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const NAMES: ReadonlyArray<NotifierName> = ["chat", "pager"]
const primary = { order: NAMES, every: "31d", from: "2026-01-15T00:00" }
const policy = compilePolicy(
  Result.getOrThrow(readPolicy({ rotas: { primary }, routes: [{ to: ["primary"] }] }, NAMES)),
  NAMES,
)
const minute = (count: number) => Instant.fromMillis(1_769_848_200_000 + count * 60_000)

const toChat = (id: string, attempted: number, more: Partial<OutboxRecord>): OutboxRecord =>
  outboxRecord(id, "i", {
    receiver: "chat",
    rotas: ["primary"],
    created_at: minute(0),
    age_starts_at: minute(0),
    first_attempted_at: minute(attempted),
    updated_at: minute(attempted),
    ...more,
  })

/** Whom the rota leads to after 20 minutes: chat, and pager while chat is out of reach. */
const named = (firings: ReadonlyArray<OutboxRecord>, more: Partial<IncidentRecord> = {}) => {
  const incident = incidentRecord("i", { opened_at: minute(0), ...more })
  const loud = { member: memberRecord({ incident: "i", agent: "a", check: "disk" }), agent: undefined }
  const facts = { now: minute(20), firings, overrides: [], unusable: new Map() }
  const patience = () => Duration.minutes(5)
  const naming = nameReceivers(policy, incident, [{ ...loud, labels: undefined }], () => 0, {
    ...facts,
    patience,
  })
  return Array.from(naming?.named.keys() ?? [])
}

it("the next turn is on call beside one that refused, also while another attempt there is under way", () => {
  const refused = toChat("1", 1, { state: "failed" })
  expect(named([refused])).toEqual(["chat", "pager"])
  const again = { incident_seq: refused.incident_seq + 1, rotas: ["primary"] }
  expect(named([refused, toChat("2", 19, { state: "sending", ...again })])).toEqual(["chat", "pager"])
  expect(named([refused, toChat("2", 19, { state: "sent", ...again })])).toEqual(["chat"])
})

it("the next turn is on call beside one whose firing is in retry, unless an acknowledgement holds that", () => {
  const retried = toChat("1", 1, { state: "retry" })
  const acknowledged = { ack_by: "eva", ack_at: minute(2), ack_severity: "critical" } as const
  expect(named([retried])).toEqual(["chat", "pager"])
  expect(named([retried], { ...acknowledged, ack_until: minute(60) })).toEqual(["chat"])
})
