import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { type CheckStatus, IncidentState, Severity } from "@tocsin/contract/formats/Status"
import { Effect, Random } from "effect"
import { inconsistencies } from "./inconsistencies.ts"
import { observe } from "./observe.ts"
import { propertySeed } from "./propertyRuns.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const AGENTS = 5
const CHECKS_PER_AGENT = 150
const SHARED = { kind: "named" as const, incident_key: IncidentKey.make("shared") }
const RANKS: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, unknown: 2, critical: 3 }

/** The expected content of a shared incident, kept the simple way: all members in one array. */
class ExpectedIncident {
  #members: ReadonlyArray<Said> = []

  /** A check said something: the latest to change stands first among equals. */
  hear(said: Said): void {
    const isOther = (member: Said) => member.agent !== said.agent || member.check !== said.check
    const others = this.#members.filter(isOther)
    this.#members = said.status === "ok" ? others : [said, ...others]
  }

  forget(agent: string): void {
    this.#members = this.#members.filter((member) => member.agent !== agent)
  }

  get members(): ReadonlyArray<Said> {
    return this.#members
  }

  get shown() {
    const count = (status: CheckStatus) => this.#members.filter((member) => member.status === status).length
    const worst = this.#members.toSorted((x, y) => RANKS[y.status] - RANKS[x.status])[0]
    const single = this.#members.length === 1 ? worst : undefined
    return {
      severity: worst?.status,
      summary: worst?.output,
      agent_id: single?.agent,
      check_id: single?.check,
      members: [count("warning"), count("unknown"), count("critical")],
    }
  }
}

interface Said {
  readonly agent: string
  readonly check: string
  readonly status: CheckStatus
  readonly output: string
}

const shownBy = (replica: Replica) =>
  observe(replica, [{ openIncidents: [SHARED] }], (unit) => {
    const incident = unit.openIncident(SHARED)
    return {
      severity: incident?.severity,
      summary: incident?.summary,
      agent_id: incident?.agent_id,
      check_id: incident?.check_id,
      members: [
        incident?.members_warning ?? 0,
        incident?.members_unknown ?? 0,
        incident?.members_critical ?? 0,
      ],
    }
  })

/** Sends results of one agent in order, and verifies the incident after each. */
const speaker = (replica: Replica) => {
  const expected = new ExpectedIncident()
  let sent = 0
  const say = Effect.fnUntraced(function* (said: ReadonlyArray<Said>) {
    const agent = said[0]?.agent ?? ""
    yield* send(
      replica,
      agent,
      said.map(({ check, status, output }) => {
        sent += 1
        return eventOf(sent, {
          check_id: check,
          status,
          exit_code: RANKS[status],
          output,
          incident_key: "shared",
        })
      }),
    )
    for (const each of said) expected.hear(each)
    assert.deepStrictEqual<unknown>(yield* shownBy(replica), expected.shown)
  })
  return { expected, say }
}

const severities: ReadonlyArray<CheckStatus> = ["warning", "unknown", "critical"]

const anySeverity = Effect.map(Random.nextIntBetween(0, 3), (n) => severities[n] ?? "critical")

const fill = Effect.fnUntraced(function* (
  { say }: ReturnType<typeof speaker>,
  agents: ReadonlyArray<string>,
) {
  for (const agent of agents) {
    const said: Array<Said> = []
    for (let n = 0; n < CHECKS_PER_AGENT; n++) {
      const check = `check-${n}`
      said.push({ agent, check, status: yield* anySeverity, output: `${agent} ${check} joins` })
    }
    yield* say(said)
  }
})

/** Some members of one agent, in no order. */
const someOf = Effect.fnUntraced(function* (members: ReadonlyArray<Said>) {
  const shuffled = yield* Random.shuffle(members)
  const agent = shuffled[0]?.agent
  const own = shuffled.filter((member) => member.agent === agent)
  return own.slice(0, members.length > 20 ? yield* Random.nextIntBetween(1, 120) : 1)
})

/** Every list of a former member, or of its agent or check, has the incident where it belongs. */
const assertFound = Effect.fnUntraced(function* (replica: Replica) {
  const [incident] = yield* rowsOf(replica, "incidents")
  const [agent_id, check_id] = [AgentId.make("agent-0"), CheckId.make("check-0")]
  for (const member of [{}, { agent_id }, { check_id }, { agent_id, check_id }]) {
    for (const state of IncidentState.literals) {
      for (const severity of Severity.literals) {
        const found = yield* rowsOf(replica, "incidents", { ...member, state, severity })
        const isSo = state === incident?.state && severity === incident.severity
        assert.strictEqual(found.length, isSo ? 1 : 0)
      }
    }
  }
})

const emptied = Effect.fnUntraced(function* (replica: Replica) {
  const agents = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`)
  yield* enroll(replica, ...agents)
  const { expected, say } = speaker(replica)
  yield* fill({ expected, say }, agents)
  yield* replica.admission.remove(AgentId.make("agent-3"))
  expected.forget("agent-3")
  assert.deepStrictEqual<unknown>(yield* shownBy(replica), expected.shown)
  for (let round = 0; expected.members.length > 0; round++) {
    const some = yield* someOf(expected.members)
    // Now and then members get better or worse instead of leaving.
    const isLeaving = round % 4 !== 0 || expected.members.length < 10
    const status = isLeaving ? ("ok" as const) : yield* anySeverity
    const changing = some.filter((member) => member.status !== status)
    if (changing.length > 0) {
      yield* say(
        changing.map(({ agent, check }) => ({ agent, check, status, output: `${agent} ${check} ${round}` })),
      )
    }
    yield* assertFound(replica)
  }
  const incidents = yield* rowsOf(replica, "incidents")
  assert.deepStrictEqual<unknown>(
    incidents.map((row) => [row.state, row.members_warning + row.members_unknown + row.members_critical]),
    [["resolved", 0]],
  )
  assert.deepStrictEqual(yield* inconsistencies(replica), [])
})

/** Incidents of hundreds of members, and agents of a thousand checks (docs/rules.md#incidents). */
export const largeIncidentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("large incidents", () => {
    it.effect("summary, severity and counts stay right while members leave in any order", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const seed = propertySeed ?? (yield* Random.nextIntBetween(0, 2 ** 31))
        yield* emptied(replica).pipe(
          Random.withSeed(seed),
          Effect.tapCause(() => Effect.logError(`the seed of this run was ${seed}`)),
        )
      }),
    )

    it.effect("deleting an agent with a thousand failing checks resolves all of its incidents", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* enroll(replica, "a", "b")
        const batches = 8
        for (let batch = 0; batch < batches; batch++) {
          const events = Array.from({ length: CHECKS_PER_AGENT }, (_, n) =>
            eventOf(batch * CHECKS_PER_AGENT + n, { check_id: `check-${batch}-${n}` }),
          )
          yield* send(replica, "a", events)
        }
        yield* send(replica, "b", [eventOf(0)])
        assert.strictEqual((yield* replica.queries.summary).open_incidents, batches * CHECKS_PER_AGENT + 1)
        yield* replica.admission.remove(AgentId.make("a"))
        const open = yield* rowsOf(replica, "incidents", { state: "open" })
        assert.deepStrictEqual<unknown>(
          open.map((row) => row.agent_id),
          ["b"],
        )
        assert.strictEqual((yield* rowsOf(replica, "outbox", { state: "pending" })).length, 1)
        assert.deepStrictEqual<unknown>(yield* rowsOf(replica, "checks", { agent_id: AgentId.make("a") }), [])
      }),
    )
  })
}
