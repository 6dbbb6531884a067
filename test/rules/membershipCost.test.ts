import { actOnOne } from "@tocsin/core/heart/admission/operatorActions"
import { CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { Severity } from "@tocsin/contract/formats/Status"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import type { IncidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { Incidents } from "@tocsin/core/heart/incidents/Incidents"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { answerFrom, transact } from "@tocsin/adapter-memory/transact"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { type Command, commandOf, decideSync } from "@tocsin/core/kernel/unitOfWork/Decision"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { assert, describe, it } from "@effect/vitest"
import { agentRecord, blacklistIdOf, incidentIdOf, outboxIdOf } from "@tocsin/testing/records"
import { eventId, start } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { Duration } from "effect"

const SHARED = incidentIdOf("shared")
const options: IncidentOptions = {
  policy: () => compilePolicy({}, []),
  staleAfter: Duration.minutes(2),
  sha256: (text) => text,
  newEventId: () => eventId(1),
  newIncidentId: () => SHARED,
  newOutboxId: () => outboxIdOf("none"),
  newAuditId: signedBy("ann").newAuditId,
}
const REF = { kind: "named", incident_key: IncidentKey.make("shared") } as const
const AGENTS = { big: agentRecord("big"), other: agentRecord("other") }

/** How many members each agent has in one incident. */
type Sizes = Readonly<Record<keyof typeof AGENTS, number>>

const checkId = (n: number) => CheckId.make(`check-${n}`)
const severityOf = (n: number): Severity => Severity.literals[(n * 7) % 3] ?? "warning"

const fill = (tables: MemoryTables, sizes: Sizes): void => {
  const joinAll = commandOf(function* (unit) {
    const incidents = new Incidents(unit, options)
    for (const name of ["big", "other"] as const) {
      const agent = AGENTS[name]
      unit.agents.put(agent)
      for (let n = 0; n < sizes[name]; n++) {
        const member = {
          agent_id: agent.agent_id,
          check_id: checkId(n),
          severity: severityOf(n),
          summary: "x",
        }
        yield* incidents.join(REF, { member, notify: false })
      }
    }
  })
  transact(tables, joinAll(), start)
}

/** How often a decision looks at a member: at any field of any version of it. */
const looksOf = (tables: MemoryTables, command: Command<unknown>): number => {
  const unit = openUnit()
  let looks = 0
  const counted = <Row extends MemberRecord | undefined>(row: Row): Row =>
    row && new Proxy(row, { get: (target, name) => ((looks += 1), Reflect.get(target, name)) })
  const { members } = unit
  const [load, put] = [members.load.bind(members), members.put.bind(members)]
  Object.assign(members, {
    load: (id: MemberRecord, row: MemberRecord | undefined) => load(id, counted(row)),
    put: (row: MemberRecord) => put(counted(row)),
  })
  decideSync(command(unit, start), (step) => answerFrom(tables, unit, step, start))
  return looks
}

const looksFor = (sizes: Sizes, command: Command<unknown>): number => {
  const tables = new MemoryTables()
  fill(tables, sizes)
  return looksOf(tables, command)
}

const removeBig = actOnOne(
  "remove",
  AGENTS.big.agent_id,
  { ...options, blacklistIdOf: () => blacklistIdOf("big") },
  signedBy("ann"),
)

const recover = commandOf(function* (unit, count: number) {
  const incidents = new Incidents(unit, options)
  for (let n = 0; n < count; n++) {
    const ref = { incident_id: SHARED, agent_id: AGENTS.big.agent_id, check_id: checkId(n) }
    yield* incidents.leave(ref, { by: "event", notify: false, resolution: { reason: "recovered" } })
  }
})

const SMALL = 250
const LARGE = 8 * SMALL

// Sorting costs a little more for each of many; twice as much for each would be far too much.
const LINEAR = 8 * 1.6

describe("the work for a large incident is proportional to its changed members", () => {
  it.each([
    ["an agent of its only members is deleted", 0, () => removeBig],
    ["an agent of most of its members is deleted", 100, () => removeBig],
    ["its members recover one after the other", 100, recover],
  ] as const)("where %s", (_, other, commandFor) => {
    const small = looksFor({ big: SMALL, other }, commandFor(SMALL))
    const large = looksFor({ big: LARGE, other }, commandFor(LARGE))
    assert.isAbove(small, SMALL)
    assert.isBelow(large / small, LINEAR, `${small} looks at members, and ${large} with eight times as many`)
  })

  it("where one improves, whatever others do", () => {
    const improve = commandOf((unit) => {
      const [{ agent_id }, check_id] = [AGENTS.big, checkId(0)]
      const member = { agent_id, check_id, severity: "warning", summary: "x" } as const
      return new Incidents(unit, options).change(SHARED, { member, notify: false })
    })
    const [small, large] = [SMALL, LARGE].map((big) => looksFor({ big, other: 0 }, improve()))
    assert.strictEqual(large, small)
  })
})
