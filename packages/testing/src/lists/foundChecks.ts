import { assert } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/Identifiers"
import { ListedStatus } from "@tocsin/contract/Status"
import type { ListFilters } from "@tocsin/core/model/ListDefinitions"
import { Effect } from "effect"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import type { population } from "./population.ts"

/** The case of ASCII letters alone does not count: É is no é. */
const isChecked = (
  { agent_id, search = "", status }: ListFilters["checks"],
  row: (typeof population.checks)[0],
): boolean => {
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

const nameOf = ({ agent_id, check_id }: (typeof population.checks)[0]): string => `${agent_id}/${check_id}`

/** Checks by every status, several words and an agent; their order is that of all checks. */
export const checksAreFound = Effect.fnUntraced(function* (replica: Replica) {
  const all = yield* rowsOf(replica, "checks")
  for (const status of [undefined, ...ListedStatus.literals])
    for (const search of [undefined, "DISK is", "a/", "is 1%", "é", "%", "a/disk nothing"])
      for (const agent_id of [undefined, AgentId.make("b")]) {
        const filter = { agent_id, search, status }
        assert.deepStrictEqual(
          (yield* rowsOf(replica, "checks", filter)).map(nameOf),
          all.filter((row) => isChecked(filter, row)).map(nameOf),
          JSON.stringify(filter),
        )
      }
})
