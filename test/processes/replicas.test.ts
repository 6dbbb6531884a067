import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { type Agent, enroll, type Event, eventOf, push, type Result } from "./Agent.ts"
import { historyOf, incidentsOf, OPERATOR_TOKEN, outboxOf } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { seeded } from "./seeded.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import { scenarioFaults } from "./scenarioFaults.ts"
import { until } from "./until.ts"
import { type Arrival, type Reaction, startReceiver, type WebhookReceiver } from "./WebhookReceiver.ts"

const SEED = 20_261_120
const AGENTS = AT_LENGTH ? 6 : 4

/**
 * Fails the first attempt of many messages in every way there is, and no second one: the next retry
 * would take 30 s.
 */
const unreliable =
  (random: () => number) =>
  ({ earlier }: Arrival): Reaction => {
    if (earlier > 0) return { status: 204 }
    const chance = random()
    if (chance < 0.15) return { status: 500 }
    if (chance < 0.2) return { status: 503, headers: { "retry-after": "1" } }
    if (chance < 0.28) return "reset"
    if (chance < 0.34) return "hang"
    return { status: 204, afterMillis: chance < 0.5 ? 300 + 1_000 * random() : 0 }
  }

/** The troubles of the test's checks. */
interface Trouble {
  readonly agents: ReadonlyArray<Agent>
  readonly check_id: string
  readonly incident_key?: string
  readonly statuses: ReadonlyArray<Result["status"]>
  /** Whether each step waits until the notification of the step before. */
  readonly isPatient: boolean
}

const troublesOf = (agents: ReadonlyArray<Agent>, random: () => number): ReadonlyArray<Trouble> => {
  const anyStatus = () =>
    (["warning", "critical", "unknown", "ok"] as const)[Math.floor(4 * random())] ?? "ok"
  return agents.flatMap((agent, index): ReadonlyArray<Trouble> => {
    const next = agents[(index + 1) % agents.length] ?? agent
    return [
      ...Array.from({ length: 4 }, (_, n): Trouble => ({
        agents: [agent],
        check_id: `patient-${n}`,
        statuses: ["warning", "critical", "ok"],
        isPatient: true,
      })),
      ...Array.from({ length: 5 }, (_, n): Trouble => ({
        agents: [agent],
        check_id: `hasty-${n}`,
        statuses: [...Array.from({ length: 6 }, anyStatus), "ok"],
        isPatient: false,
      })),
      {
        agents: [agent, next],
        check_id: `shared-${index}`,
        incident_key: `shared-${index}`,
        statuses: ["unknown", "critical", "ok"],
        isPatient: true,
      },
    ]
  })
}

/** Two servers on one database, one of which dies and comes back. */
interface Cluster {
  readonly receiver: WebhookReceiver
  readonly random: () => number
  /** Those that may be called; the first is the mortal one. */
  readonly servers: [ServerProcess, ServerProcess]
}

/** Sends an event to one server or the other until it is acknowledged. */
const insist = Effect.fnUntraced(function* (cluster: Cluster, agent: Agent, event: Event) {
  yield* until(
    `${event.event_id} is acknowledged`,
    Effect.gen(function* () {
      const server = cluster.servers[cluster.random() < 0.5 ? 0 : 1]
      const answer = yield* push(server, agent, [event])
      if (answer.status !== 202) assert.strictEqual(answer.status, 500, answer.text)
      return answer.status === 202
    }).pipe(Effect.catchTag("Unanswered", () => Effect.succeed(false as const))),
  )
})

const keyOf = ({ incident_key, agents, check_id }: Trouble): string =>
  incident_key ?? `${agents[0]?.agent_id}/${check_id}`

/** The notifications under a key, without repeats, in order of arrival. */
const toldOf = ({ arrivals }: WebhookReceiver, key: string): ReadonlyArray<string> =>
  arrivals
    .filter(({ message, earlier }) => message.data.incident.incident_key === key && earlier === 0)
    .map(({ message: { type, data } }) => `${type} ${data.severity}`)

/** Has the checks say one thing after the other. Gives the ids of those that were changes. */
const goThrough = Effect.fnUntraced(function* (cluster: Cluster, trouble: Trouble) {
  const { agents, check_id, incident_key, isPatient } = trouble
  const changes: Array<string> = []
  for (const [index, status] of trouble.statuses.entries()) {
    const events = agents.map(() =>
      eventOf({ check_id, status, ...(incident_key !== undefined && { incident_key }) }),
    )
    yield* Effect.forEach(
      agents,
      (agent, at) => insist(cluster, agent, events[at] ?? eventOf({ check_id, status })),
      {
        concurrency: "unbounded",
      },
    )
    if (status !== trouble.statuses[index - 1]) changes.push(...events.map(({ event_id }) => event_id))
    if (!isPatient || status === "ok") continue
    const told = Effect.sync(() =>
      toldOf(cluster.receiver, keyOf(trouble)).includes(`incident.firing ${status}`),
    )
    yield* until(`${keyOf(trouble)} is told as ${status}`, told)
  }
  return changes
})

/** The expected notifications of checks that wait after each step. */
const wholeScenario = ({ statuses }: Trouble): ReadonlyArray<string> => {
  const bad = statuses.filter((status) => status !== "ok")
  return [...bad.map((status) => `incident.firing ${status}`), `incident.resolved ${bad.at(-1)}`]
}

const isEnded = (state: string): boolean => state === "sent" || state === "failed" || state === "discarded"

describe("two servers on one PostgreSQL", () => {
  it.live(
    `notify of every incident in order, while one crashes and the receiver fails at random (seed ${SEED})`,
    () =>
      Effect.gen(function* () {
        const { url } = yield* scratchPostgres
        const cwd = yield* scratchFolder
        const random = seeded(SEED)
        const receiver = yield* startReceiver(unreliable(random))
        const start = (sender: string) =>
          startServer({
            cwd,
            environment: {
              DATABASE_URL: Redacted.value(url),
              SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
              SERVICE_NOTIFIERS: "webhook",
              // Shorter attempts of 2 s, and shorter leases of crashed processes.
              SERVICE_DELIVERY_LEASE: "3s",
              ...receiver.settings(sender),
            },
          })
        const servers = yield* Effect.all([start("mortal"), start("immortal")], { concurrency: 2 })
        const cluster: Cluster = { receiver, random, servers }
        const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) =>
          enroll(servers[1], `agent-${n}`),
        )
        const troubles = troublesOf(agents, random)

        const crash = Effect.gen(function* () {
          const held = () => receiver.arrivals.filter(({ sender, isOver }) => sender === "mortal" && !isOver)
          yield* until(
            "it is sending something",
            Effect.sync(() => receiver.arrivals.length > 30 && held().length > 2),
          )
          const lost = held().map(({ id }) => id)
          yield* servers[0].kill
          servers[0] = yield* start("mortal")
          return lost
        })
        const [lost, changes] = yield* Effect.all(
          [
            crash,
            Effect.forEach(troubles, (trouble) => goThrough(cluster, trouble), { concurrency: "unbounded" }),
          ],
          { concurrency: 2 },
        )
        const outbox = yield* until(
          "all notifications have ended",
          Effect.map(outboxOf(servers[0]), (items) => items.every(({ state }) => isEnded(state)) && items),
        )
        const { arrivals } = receiver
        const incidents = yield* incidentsOf(servers[1])
        assert.deepStrictEqual(scenarioFaults({ incidents, outbox, arrivals }), [])
        const patient = troubles.filter(({ isPatient }) => isPatient)
        assert.deepStrictEqual(
          patient.map((trouble) => toldOf(receiver, keyOf(trouble))),
          patient.map(wholeScenario),
        )
        const history = yield* historyOf(servers[1])
        assert.sameMembers(
          history.map(({ event_id }) => String(event_id)),
          changes.flat(),
        )
        for (const id of lost) assert.isAbove(arrivals.filter((arrival) => arrival.id === id).length, 1)
      }),
  )
})
