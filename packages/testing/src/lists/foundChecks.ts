import { assert } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { type CheckStatus, ListedStatus } from "@tocsin/contract/formats/Status"
import type { ListFilters } from "@tocsin/core/lists/ListDefinitions"
import type { ExpectationRecord } from "@tocsin/core/heart/model/ExpectationRecord"
import { Effect } from "effect"
import { incidentIdOf, write } from "../records.ts"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { start } from "../samples.ts"
import { population } from "./population.ts"

interface Found {
  readonly agent_id: AgentId
  readonly check_id: CheckId
  readonly status?: CheckStatus
  readonly summary?: string | undefined
}

/** The case of ASCII letters alone does not count: É is no é. */
const isChecked = ({ agent_id, search = "", status }: ListFilters["checks"], row: Found): boolean => {
  const text = `${row.agent_id}/${row.check_id} ${row.summary ?? ""}`.replaceAll("É", "\u0000").toLowerCase()
  return (
    (agent_id ?? row.agent_id) === row.agent_id &&
    (status === undefined || status === row.status || (status === "not_ok" && row.status !== "ok")) &&
    search
      .toLowerCase()
      .split(" ")
      .every((word) => text.includes(word))
  )
}

const nameOf = ({ agent_id, check_id }: Found): string => `${agent_id}/${check_id}`

/** Rows by every status, several words and an agent; their order is that of all of the list. */
const areFound = Effect.fnUntraced(function* (
  replica: Replica,
  list: "checks" | "overdue",
  all: ReadonlyArray<Found>,
) {
  for (const status of [undefined, ...ListedStatus.literals])
    for (const search of [undefined, "DISK is", "a/", "is 1%", "é", "%", "NEVER", "a/disk nothing"])
      for (const agent_id of [undefined, AgentId.make("b")]) {
        const filter = { agent_id, search, status }
        assert.deepStrictEqual(
          (yield* rowsOf(replica, list, filter)).map(nameOf),
          all.filter((row) => isChecked(filter, row)).map(nameOf),
          JSON.stringify(filter),
        )
      }
})

export const checksAreFound = (replica: Replica) =>
  Effect.flatMap(rowsOf(replica, "checks"), (all) => areFound(replica, "checks", all))

const overdue = { incident_id: incidentIdOf("overdue") }

const expected = ({ agent_id, registration_id }: (typeof population.agents)[0], check: string) => ({
  agent_id,
  registration_id,
  check_id: CheckId.make(check),
  origin: "agent" as const,
  terms: { after_millis: 60_000, severity: "warning", notifications_enabled: true } as const,
  expected_from: start,
  running_since: undefined,
  next_evaluation_at: undefined,
  incident_id: undefined,
  alone_due_at: undefined,
})

/** Every agent has late checks, one of which never reported, and one in time. */
const expectations: ReadonlyArray<ExpectationRecord> = population.agents.flatMap((agent) => [
  { ...expected(agent, "disk"), ...overdue },
  { ...expected(agent, "cpu"), ...overdue },
  { ...expected(agent, "never"), ...overdue },
  expected(agent, "a"),
])

/** The same of late checks, by what they reported last, if anything (docs/rules.md#lists). */
export const overdueChecksAreFound = Effect.fnUntraced(function* (replica: Replica) {
  yield* write(replica, [], (unit) => {
    for (const row of expectations) unit.of("expectation").put(row)
  })
  const all = yield* rowsOf(replica, "overdue")
  assert.lengthOf(all, 3 * population.agents.length)
  const lastOf = ({ agent_id, check_id }: Found) =>
    population.checks.find((row) => row.agent_id === agent_id && row.check_id === check_id)
  const never = yield* rowsOf(replica, "overdue", { neverReported: true })
  assert.deepStrictEqual(never.map(nameOf), all.filter((row) => lastOf(row) === undefined).map(nameOf))
  yield* areFound(
    replica,
    "overdue",
    all.map(({ agent_id, check_id }) => lastOf({ agent_id, check_id }) ?? { agent_id, check_id }),
  )
})
