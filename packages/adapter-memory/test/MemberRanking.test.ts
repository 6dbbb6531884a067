import { assert, describe, it } from "@effect/vitest"
import type { AgentId, CheckId, IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { compareMembers, type MemberRecord } from "@tocsin/core/model/MemberRecord"
import { firstMembers } from "../src/MemberRanking.ts"
import { MemoryTables } from "../src/MemoryTables.ts"
import { persistChanges } from "../src/persistChanges.ts"
import { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Schema } from "effect"

const at = Instant.fromMicros(0n)
const INCIDENT = "i" as IncidentId
const CHECKS = 60

const Change = Schema.Struct({
  check: Schema.Literals(Array.from({ length: CHECKS }, (_, index) => index)),
  becomes: Schema.Literals(["warning", "unknown", "critical", "gone", "summary"]),
  is_loud: Schema.Boolean,
  /** Whether the members so far are one transaction, and the first of them are asked for. */
  isLast: Schema.Boolean,
})

const memberOf = (check: number, change_seq: number, severity: Severity, is_loud: boolean): MemberRecord => ({
  incident_id: INCIDENT,
  agent_id: "a" as AgentId,
  check_id: String(check) as CheckId,
  severity,
  change_seq,
  summary: undefined,
  joined_at: at,
  is_loud,
  left_at: undefined,
})

describe("the ranking of an incident's members", () => {
  it.prop(
    "finds the first ones as sorting all of them does",
    { changes: Schema.Array(Change).check(Schema.isMaxLength(300)) },
    ({ changes }) => {
      const tables = new MemoryTables()
      let workspace = new Workspace()
      const persist = () => {
        persistChanges(tables, workspace.changes())
        workspace = new Workspace()
      }
      for (let check = 0; check < CHECKS; check++)
        workspace.putMember(memberOf(check, check + 1, "warning", true))
      persist()
      changes.forEach(({ becomes, check, is_loud, isLast }, index) => {
        const known = tables.members.get(INCIDENT)?.get(`a/${check}`)
        assert(known !== undefined)
        if (becomes === "gone") workspace.putMember({ ...known, left_at: at })
        else if (becomes === "summary") workspace.putMember({ ...known, summary: String(index) })
        else workspace.putMember(memberOf(check, CHECKS + index + 1, becomes, is_loud))
        if (!isLast) return
        persist()
        for (const [limit, isWanted] of [
          [9, () => true],
          [1, (member: MemberRecord) => member.is_loud],
        ] as const) {
          const sorted = Array.from(tables.members.get(INCIDENT)?.values() ?? [])
            .filter((member) => member.left_at === undefined && isWanted(member))
            .toSorted(compareMembers)
          assert.deepStrictEqual(firstMembers(tables, INCIDENT, limit, isWanted), sorted.slice(0, limit))
        }
      })
    },
    { arbitrary: { runs: propertyRuns(40) } },
  )
})
