import { assert, it } from "@effect/vitest"
import { listNames, sortsOf } from "../../src/lists/ListDefinitions.ts"
import {
  countedNames,
  evaluatedNames,
  keyedNames,
  namesOfChecks,
  plannedNames,
} from "../../src/lists/StoredTables.ts"

it("transactions lock rows in this order, in which no two servers of different versions wait for each other", () => {
  assert.deepStrictEqual(keyedNames, [
    "agent_key",
    "check_label",
    "expectation",
    "listed_check",
    "place",
    "job_run",
    "reported_alert",
    "mailed_check",
    "incident_member",
    "outbox",
    "alert",
    "operator",
    "session",
    "invitation",
    "identity_name",
    "integration",
    "kept_mail",
    "enrolment",
    "watch",
    "idempotency_key",
    "phone_call",
    "flood_minute",
    "monthly_report",
    "push_key",
    "push_subscription",
    "replica",
    "policy_version",
    "receiver_secrets",
    "setting",
    "silence",
    "rota_override",
    "announcement",
    "service_heartbeat",
    "change_stamp",
  ])
})

it("the declarations of tables name their lists, and what is evaluated and counted of them", () => {
  const sorts: Readonly<Record<string, ReadonlyArray<string>>> = Object.fromEntries(
    listNames.map((list) => [list, sortsOf(list)]),
  )
  assert.deepStrictEqual(sorts, {
    agents: ["agent_id"],
    announcements: ["created_at", "ends_at"],
    audit: ["recorded_at"],
    blacklist: ["stored"],
    checks: ["agent_id"],
    enrolments: ["created_at"],
    history: ["stored"],
    incidents: ["status", "opened_at", "resolved_at"],
    integrations: ["name"],
    labelled: ["agent_id"],
    operators: ["name"],
    outbox: ["created_at", "updated_at"],
    overdue: ["agent_id"],
    secrets: ["name"],
    sessions: ["created_at"],
    silences: ["created_at"],
    subscriptions: ["created_at"],
    watches: ["name"],
  })
  const named: ReadonlyArray<ReadonlyArray<string>> = [
    evaluatedNames,
    countedNames,
    namesOfChecks,
    plannedNames,
  ]
  assert.deepStrictEqual(named, [
    ["expectation", "listed_check", "reported_alert", "mailed_check"],
    ["rota_override", "announcement"],
    ["check_label", "expectation", "listed_check", "job_run", "reported_alert", "mailed_check"],
    ["silence", "rota_override", "announcement"],
  ])
})
