import { createHash } from "node:crypto"
import { Sender } from "@tocsin/reporting/agent/Sender"
import type { HttpAnswer, OutgoingRequest } from "@tocsin/reporting/agent/Answer"
import { MemoryQueue } from "@tocsin/reporting/program/MemoryQueue"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { Clock, Effect, Fiber, Latch } from "effect"
import type { Draws } from "./Draws.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** A check as its host knows it. */
export interface TrueCheck {
  readonly check_id: string
  readonly incident_key: string | undefined
  status: CheckStatus
  /** It does not run. */
  isMute: boolean
  /** Its results that are ok may not notify. */
  endsSilently: boolean
}

const EXIT_CODES: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, critical: 2, unknown: 3 }
const REPORT_EVERY = "2 minutes"

/** The parts of the world that an agent needs. */
export interface AgentWorld {
  readonly time: VirtualTime
  readonly draws: Draws
  readonly say: (line: string) => void
  readonly send: (request: OutgoingRequest) => Effect.Effect<HttpAnswer | undefined>
  /** Whether every result may notify. */
  readonly isLoud: boolean
}

/** A host with its agent: the sender of the real one, on virtual time. */
export class SimulatedAgent {
  readonly id: string
  readonly checks: ReadonlyArray<TrueCheck>
  /** How far its wall clock is off, in milliseconds. */
  clockOffset = 0
  /** The keys of incidents that it may have ended silently. */
  readonly silentEnds = new Set<string>()
  readonly #world: AgentWorld
  #key: string
  #nextKey: string | undefined
  #keys = 1
  #events = 0
  #running: Fiber.Fiber<unknown, unknown> | undefined
  #queue = new MemoryQueue()
  #sender: Sender | undefined
  readonly #wake = Latch.makeUnsafe()

  constructor(id: string, world: AgentWorld) {
    this.id = id
    this.#world = world
    this.#key = `key 1 of ${id}`
    this.checks = [
      { check_id: "disk", incident_key: undefined, status: "ok", isMute: false, endsSilently: false },
      { check_id: "load", incident_key: "shared", status: "ok", isMute: false, endsSilently: false },
    ]
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get waiting(): number {
    return this.#queue.size()
  }

  /** Makes another key, which replaces the present one once the server has accepted it. */
  rotate(): void {
    this.#nextKey ??= `key ${(this.#keys += 1)} of ${this.id}`
  }

  /** Starts with nothing but its keys and what its checks find now. */
  readonly start = Effect.suspend(() => {
    if (this.#running !== undefined) return Effect.void
    this.#queue = new MemoryQueue(undefined, (millis) => {
      this.#events += 1
      return uuidV7(BigInt(Math.floor(millis)), `${this.id} event ${this.#events}`)
    })
    return Effect.map(Effect.forkDetach(this.#live), (fiber) => {
      this.#running = fiber
    })
  })

  /** Dies, with all results that wait. */
  readonly kill = Effect.suspend(() => {
    const running = this.#running
    this.#running = undefined
    return running === undefined ? Effect.void : Fiber.interrupt(running)
  })

  /** Runs its checks now. */
  report(): void {
    if (this.#sender === undefined || !this.isRunning) return
    for (const { check_id: checkId, endsSilently, incident_key: incidentKey, isMute, status } of this
      .checks) {
      if (isMute) continue
      const exitCode = EXIT_CODES[status]
      const report = { checkId, status, exitCode, output: status, durationMillis: 1, incidentKey }
      const isSilent = endsSilently && status === "ok"
      if (isSilent) this.silentEnds.add(incidentKey ?? `${this.id}/${checkId}`)
      const notificationsEnabled = (this.#world.isLoud || exitCode % 2 === 0) && !isSilent
      this.#queue.add({ ...report, notificationsEnabled }, this.#sender.now())
    }
    this.#wake.openUnsafe()
  }

  readonly #live = Effect.gen({ self: this }, function* () {
    const context = yield* Effect.context<never>()
    const wall = yield* Clock.Clock
    const { draws, say, send, time } = this.#world
    const now = () => time.now
    const sender = new Sender(
      {
        queue: this.#queue,
        keys: {
          current: () => this.#key,
          next: () => this.#nextKey,
          promote: () => {
            this.#key = this.#nextKey ?? this.#key
            this.#nextKey = undefined
          },
          discard: () => (this.#nextKey = undefined),
          fingerprintOf: (key) => createHash("sha256").update(key).digest("hex").slice(0, 16),
        },
        transport: {
          send: async (request) => {
            const answer = await Effect.runPromiseWith(context)(send(request))
            if (answer === undefined) throw new Error("no answer")
            return answer
          },
        },
        clock: {
          wall: () => wall.currentTimeMillisUnsafe() + this.clockOffset,
          steady: now,
          sinceBoot: now,
        },
        boot: "simulated",
        random: draws.next,
        log: (message) => say(`${this.id}: ${message}`),
      },
      {
        agentId: this.id,
        servers: ["balancer"],
        heartbeat: { hostname: this.id, features: { push: true, metrics: false } },
        expected: this.checks.map(({ check_id }) => ({ check_id, every: "2m" })),
      },
    )
    this.#sender = sender
    this.report()
    const runsChecks = Effect.forever(
      Effect.andThen(
        Effect.sleep(REPORT_EVERY),
        Effect.sync(() => this.report()),
      ),
    )
    const sends = Effect.forever(
      Effect.gen({ self: this }, function* () {
        this.#wake.closeUnsafe()
        const next = yield* Effect.promise(() => sender.step())
        if (next > now()) yield* Effect.race(Effect.sleep(Math.ceil(next - now())), this.#wake.await)
      }),
    )
    yield* Effect.all([runsChecks, sends], { concurrency: "unbounded" })
  })
}
