import type { HttpAnswer } from "@tocsin/reporting/agent/Answer"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Duration, Effect, Random, References, Scope } from "effect"
import { delivered } from "../service/Receivers.ts"
import { openService, type Service } from "../service/Service.ts"
import { SimulatedAgent } from "./Agents.ts"
import { drawsOf } from "./Draws.ts"
import { lawfulStorage, type Defect } from "./lawfulStorage.ts"
import { lawsOfAnswer } from "./laws.ts"
import { lawsOfEnd } from "./lawsOfEnd.ts"
import { CALM, drawFate, type NetworkFaults, transmit } from "./Network.ts"
import { makeServers } from "./Servers.ts"
import { NO_POLICY, RECEIVERS } from "./policies.ts"
import { DEEDS, receive, type Stage, USUAL } from "./Steps.ts"
import { startService, type TypedService, type TypedWorld, TYPES_OF } from "./TypedService.ts"
import { VirtualTime } from "./VirtualTime.ts"

/** The outcome of a seed. */
export interface Simulated {
  readonly seed: number
  /** All that happened, a line each. */
  readonly log: ReadonlyArray<string>
  /** The broken laws, in words. */
  readonly broken: ReadonlyArray<string>
  readonly minutes: number
  readonly commits: number
}

const FEWEST_STEPS = 8
const MOST_STEPS = 20
const MINUTES_TO_RECOVER = 4
const MINUTES_TO_THE_END = 150
const IDLE = Duration.seconds(100)

/** Plays the scenario of a seed: the whole system on one virtual clock, with its faults. */
export const simulateSystem = async (seed: number, defect: Defect = {}): Promise<Simulated> => {
  const time = new VirtualTime()
  const log: Array<string> = []
  const broken: Array<string> = []
  const storageClock = { offset: 0, highest: 0 }
  const clock = time.clock(() => storageClock.offset)
  const say = (line: string) => void log.push(`${(time.now / 1_000).toFixed(3)} ${line}`)
  const complain = (line: string) => {
    broken.push(line)
    say(`BROKEN ${line}`)
  }
  const counted = { commits: 0 }
  const scenario = play({ seed, defect, time, say, complain, storageClock, counted }).pipe(
    Effect.scoped,
    Random.withSeed(seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
  )
  try {
    await time.run(scenario, clock)
  } catch (error) {
    complain(
      `the scenario ends early: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
  }
  return { seed, log, broken, minutes: time.now / 60_000, commits: counted.commits }
}

interface Play {
  readonly seed: number
  readonly defect: Defect
  readonly time: VirtualTime
  readonly say: (line: string) => void
  readonly complain: (line: string) => void
  readonly storageClock: Stage["storageClock"]
  readonly counted: { commits: number }
}

const play = Effect.fnUntraced(function* ({
  complain,
  counted,
  defect,
  say,
  seed,
  storageClock,
  time,
}: Play) {
  const draws = drawsOf(seed)
  const scope = yield* Scope.Scope
  const tables = new MemoryTables()
  const network: NetworkFaults = { ...CALM }
  const types = drawTypes(say, {
    draws,
    complain,
    misread: (result) => result,
    endsNoAlert: false,
    ...defect,
  })
  const service: Service = yield* openService({
    notifiers: RECEIVERS,
    types,
    hints: draws.chance(0.5),
    idleFor: IDLE,
    onAttempt: ({ client, notification: { attempt, cause, event_type, incident, receiver, severity } }) =>
      say(
        `${client} sends ${receiver} ${event_type} ${severity} of ${incident.incident_key}, ${cause}, attempt ${attempt}`,
      ),
    storage: lawfulStorage(tables, {
      clock: time.clock(() => storageClock.offset),
      service: () => service,
      complain,
      say,
      counted,
      defect,
    }),
  })
  const servers = makeServers(service, { draws, time, storageOffset: () => storageClock.offset })
  const agents = ["a", "b", "c"].slice(0, 2 + draws.integer(2)).map(
    (id) =>
      new SimulatedAgent(id, {
        time,
        draws,
        say,
        isLoud: true,
        send: (request) => {
          const fate = drawFate(draws, network)
          const server = servers.any()
          say(`${id} sends ${request.kind} to ${server?.process.name ?? "nobody"}: ${fate}`)
          const onAnswer = (answer: HttpAnswer) => {
            say(`${server?.process.name} answers ${id} ${answer.status} ${answer.body}`)
            for (const line of lawsOfAnswer(request, answer, tables)) complain(line)
          }
          return transmit(fate, { request, server, onAnswer })
        },
      }),
  )
  const later = (millis: number, end: () => void) =>
    Effect.asVoid(Effect.forkIn(Effect.delay(Effect.sync(end), millis), scope))
  const stage: Stage = { draws, time, service, types, servers, agents, storageClock, later }
  // Each scenario has some kinds of faults, so that rare combinations come up.
  const deeds = [...USUAL, ...Object.values(DEEDS).filter(() => draws.chance(0.35))]
  if (types.size > 0 && draws.chance(0.5)) deeds.push(receive, receive, receive)
  for (const fate of ["refused", "requestLost", "answerLost", "late", "twice"] as const)
    if (draws.chance(0.3)) network[fate] = draws.oneOf(0.02, 0.1, 0.25)

  yield* servers.open
  if (draws.chance(0.6)) yield* servers.open
  for (const agent of agents) yield* agent.start
  yield* Effect.sleep("1 second")
  yield* servers.act(({ admission }) => admission.acceptAll({ includeRotation: true }))
  const steps = FEWEST_STEPS + draws.integer(MOST_STEPS - FEWEST_STEPS + 1)
  for (let step = 0; step < steps; step++) {
    yield* Effect.sleep(draws.oneOf(100, 1_000, 5_000, 20_000, 61_000))
    const deed = draws.pick(deeds)
    if (deed === undefined) continue
    // An act waits for its storage; the scenario does not.
    yield* Effect.forkIn(
      Effect.flatMap(deed(stage), (words) => Effect.sync(() => say(words))),
      scope,
    )
  }
  yield* recover(stage, network, say)
  for (const line of yield* lawsOfEnd(stage)) complain(line)
  for (const agent of agents) yield* agent.kill
})

const UNTYPED = 0.2

/** The types of the receivers: `chat` is read by people, and `pager` keeps alerts. Some scenarios have none. */
const drawTypes = (say: Play["say"], world: TypedWorld) => {
  if (world.draws.chance(UNTYPED)) return new Map<NotifierName, TypedService>()
  const chosen = {
    chat: world.draws.pick(TYPES_OF.messenger),
    pager: world.draws.pick(TYPES_OF.alert_router),
  }
  return new Map(
    Object.entries(chosen).flatMap(([name, type]) => {
      if (type === undefined) return []
      say(`${name} is of type ${type}`)
      return [[name, startService(type, world)] as const]
    }),
  )
}

/** All faults end, people clean up, and time passes until nothing is under way. */
const recover = Effect.fnUntraced(function* (
  stage: Stage,
  network: NetworkFaults,
  say: (line: string) => void,
) {
  const { agents, draws, servers, service } = stage
  say("all faults end")
  Object.assign(network, CALM)
  yield* Effect.sleep("160 seconds")
  service.receivers.answerWith(delivered)
  for (const server of servers.running()) server.process.faults.latencies = []
  if (servers.running().length === 0) yield* servers.open
  const [first, second] = servers.running()
  if (first !== undefined && second !== undefined && draws.chance(0.85)) yield* servers.stop(first)
  yield* servers.follow(NO_POLICY)
  const dead = draws.chance(0.3) ? agents[0] : undefined
  for (const agent of agents) {
    yield* agent.kill
    agent.clockOffset = 0
    for (const check of agent.checks) check.isMute = false
    if (agent !== dead) yield* agent.start
  }
  const act = (...deed: Parameters<typeof servers.act>) => servers.act(...deed)
  for (let minute = 0; minute < MINUTES_TO_RECOVER; minute++) {
    yield* act(({ admission }) => admission.unblockAll)
    yield* act(({ admission }) => admission.acceptAll({ includeRotation: true }))
    const now = yield* Effect.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
    for (const check of service.rows().checks.values())
      if (check.last_observed_at > BigInt(now + 1_000) * 1_000n)
        yield* act(({ operations }) => operations.resetClock(check))
    yield* Effect.sleep("1 minute")
  }
  for (const { id, state } of service.rows().incidents.values())
    if (state === "open") yield* act(({ operations }) => operations.withdraw(id))
  // After a clock was set back, a dead agent is noticed late.
  const isUnnoticed = () =>
    dead !== undefined &&
    service.rows().agents.get(dead.id)?.admission_state === "accepted" &&
    service.rows().agents.get(dead.id)?.heartbeat_incident_id === undefined
  const isUnderWay = () =>
    isUnnoticed() ||
    Array.from(service.rows().outbox.values()).some(({ state }) =>
      ["pending", "retry", "sending"].includes(state),
    )
  yield* Effect.sleep("100 seconds")
  for (let minute = 0; minute < MINUTES_TO_THE_END && isUnderWay(); minute++) yield* Effect.sleep("1 minute")
})
