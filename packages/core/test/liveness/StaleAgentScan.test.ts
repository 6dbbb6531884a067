import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Command } from "../../src/unitOfWork/Decision.ts"
import { UnitOfWork } from "../../src/unitOfWork/UnitOfWork.ts"
import {
  makePass,
  makeStaleAgentScans,
  QUIET_KEPT,
  type SystemTotals,
} from "../../src/liveness/StaleAgentScan.ts"

interface FakeAgent {
  lastSeenAt: Instant.Instant
  acceptedAt: Instant.Instant
  isAccepted: boolean
  isDead: boolean
}

const SECOND = 1_000_000n

const quietSince = ({ acceptedAt, lastSeenAt }: FakeAgent): Instant.Instant =>
  Instant.max(acceptedAt, lastSeenAt)

/** Agents in memory, and how often all of them were passed over. */
class FakeAgents {
  readonly agents = new Map<AgentId, FakeAgent>()
  acceptances = 0
  passes = 0
  wholeLooks = 0
  /** Done once during the next pass, after it has read the agents. */
  meanwhile: (() => void) | undefined

  accepted(): ReadonlyArray<readonly [AgentId, FakeAgent]> {
    return Array.from(this.agents).filter(([, agent]) => agent.isAccepted)
  }

  isSilent(agent: FakeAgent | undefined, seenBefore: Instant.Instant): boolean {
    return agent !== undefined && agent.isAccepted && !agent.isDead && quietSince(agent) <= seenBefore
  }

  isOffline(agent: FakeAgent | undefined, seenBefore: Instant.Instant): boolean {
    return agent !== undefined && agent.isAccepted && !agent.isDead && agent.lastSeenAt <= seenBefore
  }

  totals(): SystemTotals {
    return {
      agents_accepted: this.accepted().length,
      agents_dead: this.accepted().filter(([, agent]) => agent.isDead).length,
      acceptances: this.acceptances,
      checks_ok: 1,
      checks_warning: 2,
      checks_critical: 3,
      checks_unknown: 4,
      open_incidents: 5,
    }
  }

  readonly staleAgentScans = makeStaleAgentScans<never>({
    acceptances: Effect.sync(() => this.acceptances),
    pass: (bound) =>
      Effect.sync(() => {
        this.passes += 1
        const dead = this.accepted().filter(([, { isDead }]) => isDead)
        const quiet = this.accepted().filter(([, { isDead, lastSeenAt }]) => !isDead && lastSeenAt <= bound)
        const found = makePass(
          quiet.map(([agent_id, agent]) => ({ agent_id, quiet_since: quietSince(agent) })),
          {
            bound,
            deadSeenAt: dead
              .map(([, { lastSeenAt }]) => lastSeenAt)
              .reduce<Instant.Instant | undefined>(
                (latest, at) => (latest === undefined ? at : Instant.max(latest, at)),
                undefined,
              ),
          },
        )
        this.meanwhile?.()
        this.meanwhile = undefined
        return found
      }),
    silent: (among, seenBefore, limit) =>
      Effect.sync(() =>
        among
          .filter((id) => this.isSilent(this.agents.get(id), seenBefore))
          .slice(0, limit)
          .toSorted(),
      ),
    look: (among, seenBefore) =>
      Effect.sync(() => ({
        ...this.totals(),
        agents_silent: among.filter((id) => this.isOffline(this.agents.get(id), seenBefore)).length,
      })),
    evaluateAll: (aliveSince) =>
      Effect.sync(() => {
        this.wholeLooks += 1
        return { ...this.totals(), agents_offline: this.offline(aliveSince) }
      }),
  })

  contact(n: number, now: Instant.Instant): void {
    const agent = this.agents.get(idOf(n))
    // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
    const seen: Command<void> = function* (_, at) {
      if (agent !== undefined) Object.assign(agent, { lastSeenAt: at, isDead: false })
    }
    this.staleAgentScans.watch(seen)(new UnitOfWork(), now).next()
  }

  offline(aliveSince: Instant.Instant): number {
    return this.accepted().filter(([, agent]) => agent.lastSeenAt <= aliveSince).length
  }

  silent(seenBefore: Instant.Instant): ReadonlyArray<AgentId> {
    return Array.from(this.agents)
      .filter(([, agent]) => this.isSilent(agent, seenBefore))
      .map(([id]) => id)
      .toSorted()
  }
}

const idOf = (n: number): AgentId => AgentId.make(`agent-${n}`)

const STALE_SECONDS = 120n
const DEAD_SECONDS = 300n

const ago = (now: Instant.Instant, seconds: bigint): Instant.Instant =>
  Instant.fromMicros(now - seconds * SECOND)

type Move = readonly [
  what:
    | "contact"
    | "register"
    | "accept"
    | "delete"
    | "sweep"
    | "look"
    | "wait"
    | "turn_back"
    | "slip"
    | "slip_in_pass",
  n: number,
]

const moves: fc.Arbitrary<ReadonlyArray<Move>> = fc.array(
  fc.tuple(
    fc.constantFrom(
      "contact",
      "register",
      "accept",
      "delete",
      "sweep",
      "look",
      "look",
      "wait",
      "turn_back",
      "slip",
      "slip_in_pass",
    ),
    fc.nat(5),
  ),
  // Otherwise most scenarios have ten moves.
  { maxLength: 60, size: "max" },
)

const follow = Effect.fnUntraced(function* (fake: FakeAgents, [what, n]: Move) {
  const now = yield* Instant.now
  const agent = fake.agents.get(idOf(n))
  switch (what) {
    case "wait":
      return yield* TestClock.adjust(`${n * 37} seconds`)
    case "turn_back":
      return yield* TestClock.setTime(Number(now / 1_000n) - n * 37_000)
    case "register":
      if (agent === undefined)
        fake.agents.set(idOf(n), { lastSeenAt: now, acceptedAt: now, isAccepted: false, isDead: false })
      return
    case "accept":
      if (agent === undefined || agent.isAccepted) return
      agent.isAccepted = true
      agent.acceptedAt = now
      fake.acceptances += 1
      return
    case "slip":
      // The clock is set back, an agent is seen, and the clock is set forward again.
      return fake.contact(n, Instant.fromMicros(now - BigInt(n) * 60n * SECOND))
    case "slip_in_pass":
      fake.meanwhile = () => fake.contact(n, Instant.fromMicros(now - BigInt(n) * 60n * SECOND))
      return
    case "contact":
      return fake.contact(n, now)
    case "delete":
      fake.agents.delete(idOf(n))
      return
    case "look": {
      const aliveSince = ago(now, STALE_SECONDS)
      const counts = yield* fake.staleAgentScans.counts(aliveSince)
      const offline = fake.offline(aliveSince)
      assert.strictEqual(counts.agents_offline, offline)
      assert.strictEqual(counts.agents_online, fake.accepted().length - offline)
      return
    }
    case "sweep": {
      const seenBefore = ago(now, DEAD_SECONDS)
      const ask = fake.staleAgentScans.staleAgents(seenBefore, 10)
      const isSlipping = fake.meanwhile !== undefined
      const first = yield* ask
      // A pass with a slip counts for nothing: the next question needs another one.
      const silent = isSlipping && fake.meanwhile === undefined ? yield* ask : first
      assert.deepStrictEqual(silent, fake.silent(seenBefore))
      for (const id of silent) Object.assign(fake.agents.get(id) ?? {}, { isDead: true })
    }
  }
})

const START_MILLIS = 1_700_000_000_000

/** So many accepted agents, seen one after the other within a span that ends now. */
const crowd = Effect.fnUntraced(function* (count: number, withinSeconds: number) {
  yield* TestClock.setTime(START_MILLIS)
  const fake = new FakeAgents()
  const now = yield* Instant.now
  for (let n = 0; n < count; n += 1) {
    const lastSeenAt = Instant.fromMicros(now - BigInt(Math.floor((n / count) * withinSeconds * 1e6)))
    fake.agents.set(idOf(n), { lastSeenAt, acceptedAt: lastSeenAt, isAccepted: true, isDead: false })
  }
  return fake
})

const look = Effect.fnUntraced(function* (fake: FakeAgents) {
  const aliveSince = ago(yield* Instant.now, STALE_SECONDS)
  const counts = yield* fake.staleAgentScans.counts(aliveSince)
  assert.strictEqual(counts.agents_offline, fake.offline(aliveSince))
})

describe("silence scans", () => {
  it.effect("return the same as a pass over all agents, whatever happens between them", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context()
      const tell = Effect.fnUntraced(function* (scenario: ReadonlyArray<Move>) {
        yield* TestClock.setTime(START_MILLIS)
        const fake = new FakeAgents()
        for (const move of scenario) yield* follow(fake, move)
      })
      const property = fc.asyncProperty(moves, (scenario) => Effect.runPromiseWith(context)(tell(scenario)))
      yield* Effect.promise(() => fc.assert(property, { numRuns: 500 }))
    }),
  )

  it.effect("pass over all agents twice in a stale threshold while all agents send heartbeats", () =>
    Effect.gen(function* () {
      const fake = yield* crowd(50, 30)
      for (let second = 0; second < 600; second += 5) {
        for (const agent of fake.agents.values()) agent.lastSeenAt = yield* Instant.now
        yield* look(fake)
        yield* fake.staleAgentScans.staleAgents(ago(yield* Instant.now, DEAD_SECONDS), 10)
        yield* TestClock.adjust("5 seconds")
      }
      assert.isAtMost(fake.passes, 11)
      assert.strictEqual(fake.wholeLooks, 0)
    }),
  )

  it.effect("stay right where more agents are quiet than they remember", () =>
    Effect.gen(function* () {
      const fake = yield* crowd(3 * QUIET_KEPT, 119)
      for (let second = 0; second < 180; second += 15) {
        yield* TestClock.adjust("15 seconds")
        yield* look(fake)
      }
      assert.isAbove(fake.wholeLooks, 0)
      assert.isBelow(fake.passes, 8)
    }),
  )

  it.effect("find all that are silent, a piece at a time, however many there are", () =>
    Effect.gen(function* () {
      const fake = yield* crowd(2.5 * QUIET_KEPT, 60)
      yield* TestClock.adjust("10 minutes")
      const seenBefore = ago(yield* Instant.now, DEAD_SECONDS)
      let found = 0
      for (let more = 1; more > 0; found += more) {
        const silent = yield* fake.staleAgentScans.staleAgents(seenBefore, 400)
        for (const id of silent) Object.assign(fake.agents.get(id) ?? {}, { isDead: true })
        more = silent.length
      }
      assert.strictEqual(found, 2.5 * QUIET_KEPT)
      assert.isBelow(fake.passes, 6)
    }),
  )

  it("remember all that were quiet by their bound, where the first one forgotten is as quiet as the last kept", () => {
    const now = Instant.fromMicros(1_000_000n * SECOND)
    const quiet = Array.from({ length: QUIET_KEPT + 9 }, (_, n) => ({
      agent_id: idOf(n),
      quiet_since: Instant.fromMicros(now - BigInt(n >> 2)),
    }))
    const pass = makePass(quiet, { bound: now, deadSeenAt: undefined })
    const wanted = quiet.filter(({ quiet_since }) => quiet_since <= pass.bound)
    assert.includeMembers(
      [...pass.quiet],
      wanted.map(({ agent_id }) => agent_id),
    )
  })

  it.effect("count whom former settings declared dead by the present ones", () =>
    Effect.gen(function* () {
      const fake = yield* crowd(3, 100)
      for (const agent of fake.agents.values()) agent.isDead = true
      yield* look(fake)
      yield* TestClock.adjust("1 minute")
      yield* look(fake)
      yield* TestClock.adjust("2 minutes")
      yield* look(fake)
    }),
  )

  it.effect("are taken once for all that ask at the same time", () =>
    Effect.gen(function* () {
      const fake = yield* crowd(10, 30)
      yield* Effect.all([look(fake), look(fake), look(fake)], { concurrency: "unbounded" })
      assert.strictEqual(fake.passes, 1)
    }),
  )
})
