import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { sweepDeadAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { isSilent } from "@tocsin/core/heart/model/AgentRecord"
import { decideExpiry, removeExpired } from "@tocsin/adapter-memory/expire"
import { claimOutbox } from "@tocsin/core/heart/notifications/claimOutbox"
import { LEASE_EXPIRED, recordResults } from "@tocsin/core/heart/notifications/recordResults"
import type { DeliveryResult } from "@tocsin/core/heart/notifications/Notifiers"
import { type RetentionName, RetentionRules } from "@tocsin/core/lists/retention/RetentionRules"
import { Duration } from "effect"
import {
  accepts,
  acceptsEach,
  heartbeats,
  blocks,
  INCIDENTS,
  keyOf,
  RECEIVER,
  removes,
  reports,
  RULES,
} from "./commands.ts"
import { AGENTS, copied, inWorld, type Replica, type World } from "./World.ts"

/** The outcome of a move, with the evidence for the laws. */
export interface Moved {
  readonly world: World
  readonly changes?: UnitOfWorkChanges
  readonly isAct?: boolean
  /** An outcome that the reply promises, and that does not hold. */
  readonly broken?: string
}

/** Something that can happen in a world; `undefined` where it cannot. */
export interface Move {
  readonly name: string
  readonly make: (world: World) => Moved | undefined
}

const LEASE = Duration.seconds(60)

const withReplica = (world: World, at: number, change: Partial<Replica>): World => ({
  ...world,
  replicas: world.replicas.map((replica, index) => (index === at ? { ...replica, ...change } : replica)),
})

/** A process begins a command, if it may and has none under way. */
const begins = (world: World, at: number): World | undefined => {
  const replica = world.replicas[at]
  if (replica === undefined || replica.left === 0) return undefined
  if (replica.attempt !== undefined || replica.expired.length > 0 || replica.found !== undefined)
    return undefined
  return withReplica(world, at, { left: replica.left - 1 })
}

/** A command of one transaction. */
const single =
  (name: string, command: (now: Instant.Instant) => Command<unknown>, isAct = false) =>
  (at: number): Move => ({
    name,
    make: (world) => {
      const begun = begins(world, at)
      return begun && { ...inWorld(begun, command(world.now)), isAct }
    },
  })

const reporting =
  (agent: AgentId, check: "disk" | "load", status: CheckStatus) =>
  (at: number): Move => ({
    name: `${agent} ${check} ${status}`,
    make: (world) => {
      const begun = begins(world, at)
      if (begun === undefined) return undefined
      const { changes, reply, world: after } = inWorld(begun, reports(agent, check, status, world.now))
      const { registration_id } = after.tables.agents.get(agent) ?? {}
      const checks = after.tables.checks.get(registration_id ?? "")
      const isLate = reply.outcome === "applied" && reply.events[0] === "late"
      const isKept = Array.from(checks?.values() ?? []).some(
        (row) => row.check_id === check && row.status === status,
      )
      const broken = reply.outcome === "applied" && !isLate && !isKept
      return {
        world: after,
        changes,
        ...(broken && { broken: `${agent} ${check} ${status} was applied, and is not stored` }),
      }
    },
  })

/** Ways of one agent. */
const ofAgent = (agent: AgentId) => [
  single(`${agent} heartbeats`, (now) => heartbeats(agent, now)),
  reporting(agent, "disk", "critical"),
  reporting(agent, "disk", "ok"),
  reporting(agent, "load", "critical"),
  reporting(agent, "load", "ok"),
  single(`accept ${agent}`, () => accepts(agent), true),
  single(`block ${agent}`, () => blocks(agent), true),
  single(`delete ${agent}`, () => removes(agent), true),
]

const claim = (at: number): Move => ({
  name: "claim",
  make: (world) => {
    const begun = begins(world, at)
    if (begun === undefined) return undefined
    const {
      changes,
      reply,
      world: after,
    } = inWorld(begun, claimOutbox({ receivers: [RECEIVER], limit: 1, lease: LEASE, holds: INCIDENTS }))
    return { world: withReplica(after, at, { attempt: reply.items[0], expired: reply.expired }), changes }
  },
})

const endExpired = (at: number): Move => ({
  name: "end expired claims",
  make: (world) => {
    const expired = world.replicas[at]?.expired ?? []
    if (expired.length === 0) return undefined
    const ended = expired.map((claim) => ({ claim, result: LEASE_EXPIRED, random: 0.5 }))
    const { changes, world: after } = inWorld(world, recordResults(ended))
    return { world: withReplica(after, at, { expired: [] }), changes }
  },
})

const settle =
  (name: string, result: DeliveryResult) =>
  (at: number): Move => ({
    name,
    make: (world) => {
      const attempt = world.replicas[at]?.attempt
      if (attempt === undefined) return undefined
      const ended = { claim: attempt.claim, result, random: 0.5 }
      const { changes, world: after } = inWorld(world, recordResults([ended]))
      return { world: withReplica(after, at, { attempt: undefined }), changes }
    },
  })

/** Work on what a search found, which other processes may have changed since. */
const search =
  (work: "sweep" | "accept all", find: (world: World) => ReadonlyArray<AgentId>) =>
  (at: number): Move => ({
    name: `search for ${work}`,
    make: (world) => {
      const begun = begins(world, at)
      const agents = find(world)
      return begun && agents.length > 0
        ? { world: withReplica(begun, at, { found: { work, agents } }) }
        : undefined
    },
  })

const searchDead = search("sweep", ({ now, tables }) =>
  Array.from(tables.agents.values()).flatMap((agent) =>
    isSilent(agent, Instant.minus(now, RULES.deadAfter)) ? [agent.agent_id] : [],
  ),
)

const searchPending = search("accept all", ({ tables }) =>
  Array.from(tables.agents.values()).flatMap((agent) =>
    agent.pending_key_hash === undefined ? [] : [agent.agent_id],
  ),
)

const actOnFound = (at: number): Move => ({
  name: "act on what was found",
  make: (world) => {
    const found = world.replicas[at]?.found
    if (found === undefined) return undefined
    const isAct = found.work === "accept all"
    const command: Command<unknown> = isAct
      ? acceptsEach(found.agents)
      : sweepDeadAgents({ rules: RULES, incidents: INCIDENTS, agents: found.agents })
    const { changes, world: after } = inWorld(world, command)
    return { world: withReplica(after, at, { found: undefined }), changes, isAct }
  },
})

const restart = (at: number): Move => ({
  name: "restart",
  make: (world) => {
    const replica = world.replicas[at]
    const lost = { attempt: undefined, expired: [], found: undefined }
    const isIdle = replica?.attempt === undefined && replica?.found === undefined && !replica?.expired.length
    return isIdle ? undefined : { world: withReplica(world, at, lost) }
  },
})

/** Time passes, for the first process to count; it service heartbeats meanwhile or not. */
const passes =
  (name: string, seconds: number, serviceHeartbeats: boolean) =>
  (at: number): Move => ({
    name,
    make: (world) => {
      const begun = begins(world, at)
      if (begun === undefined) return undefined
      const later = (from: World, by: number): World => ({
        ...from,
        now: Instant.fromMicros(from.now + BigInt(Math.round(by * 1_000_000))),
      })
      if (!serviceHeartbeats)
        return { world: inWorld(later(begun, seconds), writeServiceHeartbeat(RULES)).world }
      let after = begun
      for (let part = 0; part < 3; part++)
        after = inWorld(later(after, seconds / 3), writeServiceHeartbeat(RULES)).world
      return { world: after }
    },
  })

/** Everything that may go goes. */
const expire = (at: number): Move => ({
  name: "expire",
  make: (world) => {
    const begun = begins(world, at)
    if (begun === undefined) return undefined
    const after = copied(begun)
    for (const rule of Object.keys(RetentionRules) as ReadonlyArray<RetentionName>) {
      const piece = { rule, before: world.now, after: undefined, limit: 500 }
      removeExpired(decideExpiry(after.tables, piece).expired)
    }
    return { world: after }
  },
})

const delivered = settle("delivered", { outcome: "delivered" })
const deferred = settle("deferred", { outcome: "deferred", error: "503" })
const refused = settle("refused", { outcome: "refused", error: "400" })

/** Everything that one process can do. */
export const ALPHABET: ReadonlyArray<Move> = [
  ...AGENTS.flatMap(ofAgent),
  claim,
  endExpired,
  delivered,
  deferred,
  refused,
  searchDead,
  actOnFound,
  restart,
  expire,
  passes("61 s pass", 61, true),
  passes("301 s pass", 301, true),
  passes("301 s without a server", 301, false),
  passes("the clock goes back", -61, true),
].map((move) => move(0))

/** The moves of two processes on the same rows. */
export const alphabetOf = (at: number): ReadonlyArray<Move> =>
  [
    single("agent-a heartbeats", (now) => heartbeats(AGENTS[0], now)),
    reporting(AGENTS[0], "load", "critical"),
    reporting(AGENTS[0], "load", "ok"),
    reporting(AGENTS[1], "load", "critical"),
    reporting(AGENTS[1], "load", "ok"),
    single("accept agent-a", () => accepts(AGENTS[0]), true),
    single("block agent-a", () => blocks(AGENTS[0]), true),
    single("delete agent-b", () => removes(AGENTS[1]), true),
    claim,
    endExpired,
    delivered,
    deferred,
    searchDead,
    searchPending,
    actOnFound,
    restart,
    passes("61 s pass", 61, true),
  ].map((move) => {
    const { make, name } = move(at)
    return { name: `${at}: ${name}`, make }
  })

/** The agents of the alphabet heartbeat and are accepted. */
export const enrolled = (world: World): World => {
  let after = inWorld(world, writeServiceHeartbeat(RULES)).world
  for (const agent of AGENTS) {
    after = inWorld(after, heartbeats(agent, after.now)).world
    after = inWorld(after, accepts(agent)).world
  }
  return after
}

/** An open shared incident with its firing, a dead agent, and a key that waits. */
export const eventful = (world: World): World => {
  const [a] = AGENTS
  const marked = (from: World, seconds: number) =>
    inWorld({ ...from, now: Instant.plus(from.now, Duration.seconds(seconds)) }, writeServiceHeartbeat(RULES))
      .world
  let after = marked(marked(marked(enrolled(world), 110), 110), 110)
  after = inWorld(after, reports(a, "load", "critical", after.now)).world
  return inWorld(after, heartbeats(a, after.now, keyOf(a, 2))).world
}
