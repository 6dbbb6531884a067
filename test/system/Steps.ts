import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { Duration, Effect, Result } from "effect"
import {
  type Answer,
  deferred,
  delivered,
  hanging,
  refused,
  silent,
  throwing,
  timedOut,
} from "../service/Receivers.ts"
import type { Service } from "../service/Service.ts"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { SimulatedAgent } from "./Agents.ts"
import type { Draws } from "./Draws.ts"
import { POLICIES, RECEIVERS } from "./policies.ts"
import type { SimulatedServer, Servers } from "./Servers.ts"
import type { TypedService } from "./TypedService.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** The subjects that a step can act on. */
export interface Stage {
  readonly draws: Draws
  readonly time: VirtualTime
  readonly service: Service
  /** The receivers of types; the others are of none. */
  readonly types: ReadonlyMap<NotifierName, TypedService>
  readonly servers: Servers
  readonly agents: ReadonlyArray<SimulatedAgent>
  /** Milliseconds by which the storage's clock has been set. */
  readonly storageClock: { offset: number; highest: number }
  /** Ends that faults have later. */
  readonly later: (millis: number, end: () => void) => Effect.Effect<void>
}

/** A step's deed, and its words in the log. */
type Deed = (stage: Stage) => Effect.Effect<string>

const words = (text: string) => Effect.succeed(text)

/** Acts on a row that was drawn, if there was one to draw. */
const onOne = <Row>(row: Row | undefined, what: string, does: (row: Row) => Effect.Effect<string>) =>
  row === undefined ? words(`no ${what}`) : does(row)

const onAgent =
  (deed: (agent: SimulatedAgent, stage: Stage) => Effect.Effect<string>): Deed =>
  (stage) => {
    const agent = stage.draws.pick(stage.agents)
    return agent === undefined
      ? words("no agent")
      : Effect.map(deed(agent, stage), (done) => `${agent.id} ${done}`)
  }

const onServer =
  (deed: (server: SimulatedServer, stage: Stage) => Effect.Effect<string>): Deed =>
  (stage) => {
    const server = stage.servers.any()
    return server === undefined
      ? words("no server")
      : Effect.map(deed(server, stage), (done) => `${server.process.name} ${done}`)
  }

const turn: Deed = onAgent((agent, { draws }) => {
  const check = draws.pick(agent.checks)
  if (check === undefined) return words("has no check")
  Object.assign(check, {
    status: draws.oneOf("ok", "critical", "warning", "ok", "unknown"),
    endsSilently: draws.chance(0.3),
  })
  agent.report()
  return words(`${check.check_id} turns ${check.status}${check.endsSilently ? ", to end silently" : ""}`)
})

const mute: Deed = onAgent((agent, { draws, later }) => {
  const check = draws.pick(agent.checks)
  if (check === undefined) return words("has no check")
  check.isMute = true
  const ends = later(draws.oneOf(200_000, 500_000), () => {
    check.isMute = false
  })
  return Effect.as(ends, `${check.check_id} does not run`)
})

const crash: Deed = onServer((server, { servers }) => Effect.as(servers.crash(server), "crashes"))
const stop: Deed = onServer((server, { servers }) => Effect.as(servers.stop(server), "stops"))
const open: Deed = ({ servers }) =>
  servers.running().length < 2 ? Effect.as(servers.open, "a server starts") : words("enough servers")

const disturb = (fault: "isUnreachable" | "isReadOnly" | "losesReplies"): Deed =>
  onServer((server, { draws, later }) => {
    const { faults } = server.process
    const millis = draws.oneOf(500, 4_000, 30_000, 150_000)
    faults[fault] = true
    const ends = later(millis, () => {
      // A crashed process stays cut off.
      if (!server.isGone) faults[fault] = false
    })
    return Effect.as(ends, `${fault} for ${millis} ms`)
  })

const slow: Deed = onServer((server, { draws, later }) => {
  const { faults } = server.process
  const millis = draws.oneOf(20, 2_000, 65_000)
  faults.latencies = [millis, 0, 1]
  const ends = later(draws.oneOf(10_000, 90_000), () => {
    faults.latencies = []
  })
  return Effect.as(ends, `is ${millis} ms from the storage`)
})

const skew: Deed = onServer((server, { draws, later }) => {
  server.skew = draws.oneOf(-5_000, 5_000, 1, -90_000, 90_000)
  // Servers measure their offset once a minute.
  const ends = later(60_000, () => {
    server.skew = 0
  })
  return Effect.as(ends, `has a clock that is ${server.skew} ms off`)
})

const ANSWERS: Readonly<Record<string, Answer>> = {
  deferred,
  delivered,
  hanging,
  refused,
  silent,
  throwing,
  timedOut,
}
/** A receiver answers in another way. */
export const receive: Deed = ({ draws, service }) =>
  Effect.sync(() => {
    const notifier = draws.pick(RECEIVERS) ?? "chat"
    const [name, answer] = draws.pick(Object.entries(ANSWERS)) ?? ["delivered", delivered]
    service.receivers.answerWith(answer, { notifier })
    return `${notifier} answers ${name}`
  })

const MOST_BACK_MILLIS = 240_000

const setClock: Deed = ({ draws, storageClock }) =>
  Effect.sync(() => {
    // The earlier observation stays the latest until the clock has caught up
    // (docs/rules.md#events).
    const least = storageClock.highest - MOST_BACK_MILLIS
    const by = Math.max(draws.oneOf(-200_000, -5_000, 5_000, 400_000), least - storageClock.offset)
    storageClock.offset += by
    storageClock.highest = Math.max(storageClock.highest, storageClock.offset)
    return `the storage's clock is set by ${by} ms`
  })

const follow: Deed = ({ draws, servers }) => {
  const at = draws.integer(POLICIES.length)
  const only = draws.chance(0.3) ? servers.any() : undefined
  return Effect.as(
    servers.follow(POLICIES[at] ?? POLICIES[0], only),
    `policy ${at} on ${only?.process.name ?? "all servers"}`,
  )
}

const log: ReadonlyArray<readonly [string, (stage: Stage) => Effect.Effect<string>]> = [
  [
    "accepts",
    ({ servers, agents, draws }) =>
      servers.act(({ admission }) => admission.accept(AgentId.make(draws.pick(agents)?.id ?? ""))),
  ],
  [
    "accepts all",
    ({ servers }) => servers.act(({ admission }) => admission.acceptAll({ includeRotation: true })),
  ],
  [
    "blocks",
    ({ servers, agents, draws }) =>
      servers.act(({ admission }) => admission.block(AgentId.make(draws.pick(agents)?.id ?? ""))),
  ],
  ["unblocks all", ({ servers }) => servers.act(({ admission }) => admission.unblockAll)],
  [
    "deletes",
    ({ servers, agents, draws }) =>
      servers.act(({ admission }) => admission.remove(AgentId.make(draws.pick(agents)?.id ?? ""))),
  ],
  [
    "deletes a check",
    ({ draws, servers, service }) =>
      onOne(draws.pick(Array.from(service.rows().checks.values())), "check", (check) =>
        servers.act(({ operations }) => operations.removeCheck(check)),
      ),
  ],
  [
    "acknowledges",
    ({ draws, servers, service }) => {
      const incident = draws.pick(Array.from(service.rows().incidents.values()))
      const request = { for: Duration.seconds(draws.oneOf(30, 400)) }
      return onOne(incident, "incident", ({ id }) =>
        servers.act(({ operations }) => operations.acknowledge(id, request)),
      )
    },
  ],
  [
    "withdraws",
    ({ draws, servers, service }) =>
      onOne(draws.pick(Array.from(service.rows().incidents.values())), "incident", ({ id }) =>
        servers.act(({ operations }) => operations.withdraw(id)),
      ),
  ],
  [
    "silences",
    ({ draws, servers }) => {
      const matchers = [
        Result.getOrThrow(
          parseMatcher(draws.oneOf("check_id = disk", "incident_key = shared", "agent_id = a")),
        ),
      ]
      const request = { matchers, comment: "c", for: Duration.seconds(draws.oneOf(30, 400)) }
      return servers.act(({ operations }) => Effect.as(operations.silence(request), "silenced"))
    },
  ],
  [
    "releases",
    ({ draws, servers, service }) =>
      onOne(draws.pick(Array.from(service.rows().outbox.values())), "item", ({ id }) =>
        servers.act(({ operations }) => operations.release(id)),
      ),
  ],
  [
    "replays",
    ({ draws, servers, service }) => {
      const item = draws.pick(
        Array.from(service.rows().outbox.values()).filter(({ state }) => state === "failed"),
      )
      return onOne(item, "item", ({ id }) => servers.act(({ operations }) => operations.replay(id)))
    },
  ],
]

const act: Deed = (stage) => {
  const [name, deed] = stage.draws.pick(log) ?? ["does nothing", () => words("")]
  return Effect.map(deed(stage), (outcome) => `ann ${name}: ${outcome}`)
}

/** The kinds of what can happen. A scenario has some of them. */
export const DEEDS: Readonly<Record<string, Deed>> = {
  crash,
  stop,
  mute,
  slow,
  skew,
  receive,
  setClock,
  follow,
  unreachable: disturb("isUnreachable"),
  readOnly: disturb("isReadOnly"),
  lostReplies: disturb("losesReplies"),
  killAgent: onAgent((agent) => Effect.as(agent.kill, "dies")),
  rotate: onAgent((agent) =>
    Effect.sync(() => {
      agent.rotate()
      return "has another key"
    }),
  ),
  setAgentClock: onAgent((agent, { draws }) =>
    Effect.sync(() => {
      agent.clockOffset = draws.oneOf(-3_600_000, -2_000, 0, 2_000, 3_600_000)
      return `has a clock that is ${agent.clockOffset} ms off`
    }),
  ),
}

/** The deeds of every scenario. */
export const USUAL: ReadonlyArray<Deed> = [
  turn,
  turn,
  turn,
  turn,
  act,
  act,
  ({ servers }) =>
    Effect.map(
      servers.act(({ admission }) => admission.acceptAll({ includeRotation: true })),
      (done) => `ann accepts all: ${done}`,
    ),
  open,
  open,
  onAgent((agent) => Effect.as(agent.start, "starts")),
]
