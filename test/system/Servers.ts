import { libraryOperator, CurrentOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import type { Policy } from "@tocsin/core/heart/policy/compilePolicy"
import { Clock, Effect } from "effect"
import type { Process, Service } from "../service/Service.ts"
import type { Draws } from "./Draws.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** The operator of all acts in the simulation. */
export const OPERATOR = { ...libraryOperator("ann"), via: "api" as const }

/** A server process on the clock of its machine. */
export interface SimulatedServer {
  readonly process: Process
  /** How far its clock is from the storage's, in milliseconds, until it is corrected. */
  skew: number
  /** It stops, or has crashed: no answer leaves it. */
  isGone: boolean
  readonly byItsClock: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The server processes over one storage. */
export interface Servers {
  readonly running: () => ReadonlyArray<SimulatedServer>
  readonly open: Effect.Effect<void>
  /** Loses everything but what is in the tables. */
  readonly crash: (server: SimulatedServer) => Effect.Effect<void>
  readonly stop: (server: SimulatedServer) => Effect.Effect<void>
  /** The server that a balancer chooses. */
  readonly any: () => SimulatedServer | undefined
  /** Puts a policy in force on one server, or on all that run or start from now on. */
  readonly follow: (policy: Policy, only?: SimulatedServer) => Effect.Effect<void>
  /** Acts as an operator at some server; refusals are results too. */
  readonly act: <A, E>(act: (process: Process) => Effect.Effect<A, E>) => Effect.Effect<string>
}

const nameOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)

const wordsOf = (reply: unknown): string =>
  typeof reply === "object" && reply !== null && "count" in reply ? `count ${String(reply.count)}` : "done"

/** Runs server processes of a service, on clocks that follow the storage's. */
export const makeServers = (
  service: Service,
  {
    draws,
    storageOffset,
    time,
  }: {
    readonly draws: Draws
    readonly time: VirtualTime
    readonly storageOffset: () => number
  },
): Servers => {
  let opened = 0
  let running: ReadonlyArray<SimulatedServer> = []
  let inForce: Policy | undefined
  const any = () => draws.pick(running)

  const close = Effect.fnUntraced(function* (server: SimulatedServer) {
    server.isGone = true
    running = running.filter((other) => other !== server)
    yield* Effect.forkDetach(server.process.close)
  })
  return {
    running: () => running,
    any,
    open: Effect.gen(function* () {
      opened += 1
      const skewed = { skew: 0 }
      const clock = time.clock(() => storageOffset() + skewed.skew)
      const byItsClock = Effect.provideService(Clock.Clock, clock)
      const process = yield* byItsClock(service.open(`server ${opened}`, { keepsHouse: true, reports: true }))
      const server: SimulatedServer = Object.assign(skewed, { process, isGone: false, byItsClock })
      if (inForce !== undefined) yield* byItsClock(process.policy.replace(inForce))
      running = [...running, server]
    }),
    crash: (server) =>
      Effect.suspend(() => {
        service.receivers.cutOff(server.process.name)
        server.process.faults.isUnreachable = true
        return close(server)
      }),
    stop: close,
    follow: (policy, only) =>
      Effect.suspend(() => {
        if (only === undefined) inForce = policy
        const servers = only === undefined ? running : [only]
        return Effect.forEach(servers, (one) => one.byItsClock(one.process.policy.replace(policy)), {
          discard: true,
        })
      }),
    act: (act) =>
      Effect.suspend(() => {
        const server = any()
        if (server === undefined) return Effect.succeed("no server")
        return server
          .byItsClock(act(server.process))
          .pipe(
            Effect.provideService(CurrentOperator, OPERATOR),
            Effect.match({ onSuccess: wordsOf, onFailure: nameOf }),
          )
      }),
  }
}
