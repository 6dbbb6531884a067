import { describe, it } from "@effect/vitest"
import { auditedCheck } from "@tocsin/core/heart/model/AuditRecord"
import type { CheckActionOutcome } from "@tocsin/core/heart/checks/checkActions"
import type { AuditActionName } from "@tocsin/contract/audit/AuditActions"
import * as Instant from "@tocsin/contract/formats/Instant"
import { OperatorName, Role } from "@tocsin/contract/operators/Operators"
import type { ListName, ListRows } from "@tocsin/core/lists/ListDefinitions"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { assertSame } from "../assertSame.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { atMost } from "../records.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { START_MILLIS } from "../samples.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"
import { outcomeOf, rules } from "./comparison.ts"
import { commandOf, type Sent } from "./commandOf.ts"
import { type ModelAction, modelActions } from "./ModelAction.ts"

const RUNS = 25
const MANY = 1_000

interface OperatorAction {
  readonly act: "createOperator" | "changeOperator" | "rotateOperator" | "removeOperator"
  readonly name: OperatorName
  readonly role: Role
}

const operatorAction: fc.Arbitrary<OperatorAction> = fc.record({
  act: fc.constantFrom("createOperator", "changeOperator", "rotateOperator", "removeOperator"),
  name: fc.constantFrom("ann", "bob").map((name) => OperatorName.make(name)),
  role: fc.constantFrom(...Role.literals),
})

/** A scenario in which operators are created and removed, too. */
const scenario: fc.Arbitrary<ReadonlyArray<ModelAction | OperatorAction>> = fc
  .tuple(modelActions, fc.array(operatorAction, { maxLength: 12 }))
  .map(([actions, others]) => actions.flatMap((action, n) => [action, ...others.slice(n, n + 1)]))

const actOf = ({ operators }: Replica, { act, name, role }: OperatorAction) => {
  switch (act) {
    case "createOperator":
      return operators.create({ name, role })
    case "changeOperator":
      return operators.change(name, { role })
    case "rotateOperator":
      return operators.rotate(name, {})
    case "removeOperator":
      return operators.remove(name)
  }
}

const readState = Effect.fnUntraced(function* (replica: Replica) {
  const incidents = yield* rowsOf(replica, "incidents")
  const scenarios = yield* Effect.forEach(incidents, ({ id }) => replica.storage.incident(id, atMost(MANY)))
  return {
    agents: yield* rowsOf(replica, "agents"),
    blacklist: yield* rowsOf(replica, "blacklist"),
    checks: yield* rowsOf(replica, "checks"),
    outbox: yield* rowsOf(replica, "outbox"),
    operators: yield* rowsOf(replica, "operators"),
    silences: yield* rowsOf(replica, "silences"),
    audit: yield* rowsOf(replica, "audit"),
    log: scenarios.flatMap((one) => one?.log ?? []),
  }
})
type State = Effect.Success<ReturnType<typeof readState>>

/** The rows of a list that only one of two states has, by name. */
const onlyIn = <Row>(rows: ReadonlyArray<Row>, others: ReadonlyArray<Row>, nameOf: (row: Row) => string) => {
  const names = new Set(others.map(nameOf))
  return rows.filter((row) => !names.has(nameOf(row)))
}

/** The rows that differ, with what they were. */
const changed = <L extends ListName>(
  rows: ReadonlyArray<ListRows[L]>,
  before: ReadonlyArray<ListRows[L]>,
  nameOf: (row: ListRows[L]) => string,
  isChange: (was: ListRows[L], is: ListRows[L]) => boolean,
) => {
  const former = new Map(before.map((row) => [nameOf(row), row]))
  return rows.filter((row) => {
    const was = former.get(nameOf(row))
    return was !== undefined && isChange(was, row)
  })
}

const ACT_ACTIONS: Readonly<Record<string, AuditActionName | undefined>> = {
  acknowledged: "incident.acknowledged",
  withdrawn: "incident.acknowledgement_withdrawn",
  ran_out: "incident.acknowledgement_expired",
  noted: "incident.noted",
}

type Expected = ReadonlyArray<string>

const lines = (action: AuditActionName, ids: ReadonlyArray<string>): Expected =>
  ids.map((id) => `${action} ${id}`)

/** The changes that an audit must show, by the rows before and after, without a look at how they are made. */
const changesOf = (
  action: ModelAction | OperatorAction,
  outcome: unknown,
  before: State,
  after: State,
): Expected => {
  const agentId = ({ agent_id }: { readonly agent_id: string }) => agent_id
  switch (action.act) {
    case "enroll":
    case "accept":
    case "acceptAll": {
      const former = new Map(before.agents.map((agent) => [agent.agent_id, agent.accepted_key_hash]))
      const accepted = after.agents.filter(
        ({ accepted_key_hash, agent_id }) =>
          accepted_key_hash !== undefined && accepted_key_hash !== former.get(agent_id),
      )
      return lines("agent.accepted", accepted.map(agentId))
    }
    case "block":
    case "blockAll": {
      const blocked = onlyIn(after.blacklist, before.blacklist, (row) => row.blacklist_id)
      return lines("agent.blocked", blocked.map(agentId))
    }
    case "remove":
    case "removeAll":
      return lines("agent.deleted", onlyIn(before.agents, after.agents, agentId).map(agentId))
    case "unblock":
    case "unblockAll": {
      const gone = onlyIn(before.blacklist, after.blacklist, (row) => row.blacklist_id)
      return lines(
        "key.unblocked",
        gone.map((row) => row.blacklist_id),
      )
    }
    case "removeCheck": {
      const { reply } = outcome as { readonly reply?: CheckActionOutcome }
      // A check that never reported is none of the list, but may be expected.
      const isDone = typeof reply === "number" && reply > 0
      const gone = onlyIn(before.checks, after.checks, auditedCheck).map(auditedCheck)
      return lines("check.deleted", isDone ? [`${action.agent}/${action.check}`] : gone)
    }
    case "resetClock": {
      const { reply } = outcome as { readonly reply?: CheckActionOutcome }
      const isDone = typeof reply === "number" && reply > 0
      return lines("check.clock_reset", isDone ? [`${action.agent}/${action.check}`] : [])
    }
    case "replay": {
      const replayed = changed<"outbox">(
        after.outbox,
        before.outbox,
        (row) => row.id,
        (was, is) => was.state === "failed" && is.state === "pending",
      )
      return lines(
        "notification.replayed",
        replayed.map((row) => row.id),
      )
    }
    case "acknowledge":
    case "withdraw":
    case "note":
    case "evaluateDue": {
      const acts = onlyIn(after.log, before.log, ({ incident_id, seq }) => `${incident_id}/${seq}`)
      return acts.flatMap((row) => {
        const action = ACT_ACTIONS[row.action]
        return action === undefined ? [] : lines(action, [row.incident_id])
      })
    }
    case "silence":
    case "expireSilence": {
      const nameOf = ({ id }: ListRows["silences"]) => id
      const ended = changed<"silences">(
        after.silences,
        before.silences,
        nameOf,
        (was, is) => was.ends_at > is.ends_at,
      )
      return [
        ...lines("silence.created", onlyIn(after.silences, before.silences, nameOf).map(nameOf)),
        ...lines("silence.expired", ended.map(nameOf)),
      ]
    }
    case "createOperator":
    case "removeOperator": {
      const nameOf = (row: ListRows["operators"]) => row.name
      return [
        ...lines("operator.created", onlyIn(after.operators, before.operators, nameOf).map(nameOf)),
        ...lines("operator.removed", onlyIn(before.operators, after.operators, nameOf).map(nameOf)),
      ]
    }
    case "changeOperator":
    case "rotateOperator": {
      const nameOf = (row: ListRows["operators"]) => row.name
      const changes = (isChange: (was: ListRows["operators"], is: ListRows["operators"]) => boolean) =>
        changed<"operators">(after.operators, before.operators, nameOf, isChange).map(nameOf)
      return [
        ...lines(
          "operator.changed",
          changes((was, is) => was.role !== is.role),
        ),
        ...lines(
          "operator.rotated",
          changes((was, is) => was.token_hash !== is.token_hash),
        ),
      ]
    }
    default:
      // Agents' calls, delivery, retention and looks are changes of no one.
      return []
  }
}

const recordedIn = (before: State, after: State): Expected =>
  onlyIn(after.audit, before.audit, (row) => row.id).flatMap(({ action, subjects }) =>
    subjects.map(({ id }) => `${action} ${id}`),
  )

const tell = Effect.fnUntraced(function* (
  actions: ReadonlyArray<ModelAction | OperatorAction>,
  replica: Replica,
) {
  const sent: Sent = { events: [], batches: [] }
  yield* TestClock.setTime(START_MILLIS)
  let before = yield* readState(replica)
  for (const [index, action] of actions.entries()) {
    if (action.act === "wait") {
      yield* TestClock.adjust(Duration.seconds(action.seconds))
      continue
    }
    const outcome =
      "name" in action
        ? yield* Effect.ignore(actOf(replica, action))
        : yield* outcomeOf(commandOf(action, sent, yield* Instant.now), replica)
    const after = yield* readState(replica)
    const name = `action ${index}, ${JSON.stringify(action)}`
    assertSame(
      recordedIn(before, after).toSorted(),
      changesOf(action, outcome, before, after).toSorted(),
      name,
    )
    before = after
  }
})

/** Random scenarios: the audit has what people and ended times changed, nothing more and nothing less. */
export const auditScenarioSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("audit", () => {
    it.effect(
      "has exactly the changes that a random scenario made",
      () =>
        forAll(scenario, { runs: RUNS }, (actions) =>
          Effect.gen(function* () {
            yield* tell(actions, yield* openReplica(subject, rules))
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
        ),
      PROPERTY_TIMEOUT_MILLIS,
    )
  })
}
