import { setImmediate } from "node:timers/promises"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"

/**
 * An interruption of one call of the storage: it fails, its reply is lost, it throws, the process
 * breaks off and starts again, or something changes just before it.
 */
export const INTERRUPTIONS = ["fails", "loses its reply", "throws", "breaks off", "changes"] as const
export type Interruption = (typeof INTERRUPTIONS)[number]

/** A method of the storage that background work calls. */
export type Called =
  | ("transact" | "page" | "agent" | "service_heartbeat" | "staleAgents" | "dueRows" | "rows")
  | ("expire" | "untilNextDue")

interface Planned {
  readonly interruption: Interruption
  /** The number of the call, counted from the time when it was planned. */
  readonly at: number
  /** Runs before the call where something changes. */
  readonly change: Effect.Effect<void>
}

const failed = new StorageError({ reason: "unavailable", message: "failed once for a test" })

/** A storage one of whose calls is interrupted, and which counts its calls. */
export class InterruptedStorage {
  #calls = 0
  #planned: Planned | undefined
  #isBroken = false
  #underWay = 0
  /** Called when no call is under way any more. */
  onIdle = (): void => {}
  #counted: ReadonlyArray<Called> = []

  /** From now on calls of these methods are counted, and the planned one is interrupted. */
  plan(planned: Planned | undefined, counted: ReadonlyArray<Called>): void {
    this.#calls = 0
    this.#counted = counted
    this.#planned = planned
  }
  get calls(): number {
    return this.#calls
  }
  /** Whether the planned call has not come yet. */
  get isPlanned(): boolean {
    return this.#planned !== undefined
  }
  /** Whether the process has broken off: no call arrives until another one has started. */
  get isBroken(): boolean {
    return this.#isBroken
  }
  restart(): void {
    this.#isBroken = false
  }

  /** Waits, in real time, until no call is under way. */
  readonly idle: Effect.Effect<void> = Effect.suspend(() =>
    this.#underWay === 0
      ? Effect.void
      : Effect.andThen(
          Effect.promise(() => setImmediate()),
          this.idle,
        ),
  )

  readonly isUnderWay = (): boolean => this.#underWay > 0

  #end(): void {
    this.#underWay -= 1
    if (this.#underWay === 0) this.onIdle()
  }

  readonly clientOf = (storage: Storage["Service"]): Storage["Service"] => {
    const count = <A>(call: Effect.Effect<A, StorageError>) =>
      Effect.suspend(() => {
        this.#underWay += 1
        return call
      }).pipe(Effect.ensuring(Effect.sync(() => this.#end())))
    const reach = <A>(name: Called, call: Effect.Effect<A, StorageError>) =>
      count(Effect.suspend(() => this.#reached(name, call)))
    return Storage.of({
      ...storage,
      transact: (command) => reach("transact", storage.transact(command)),
      page: (request) => reach("page", storage.page(request)),
      agent: (id) => reach("agent", storage.agent(id)),
      staleAgents: (...asked) => reach("staleAgents", storage.staleAgents(...asked)),
      dueRows: (name, request) => reach("dueRows", storage.dueRows(name, request)),
      rows: (name, keys) => reach("rows", storage.rows(name, keys)),
      expire: (piece) => reach("expire", storage.expire(piece)),
      untilNextDue: (receivers, now) => reach("untilNextDue", storage.untilNextDue(receivers, now)),
      serviceHeartbeat: reach("service_heartbeat", storage.serviceHeartbeat),
      agentsWithPendingKey: (after, limit) => count(storage.agentsWithPendingKey(after, limit)),
      checks: (checks) => count(storage.checks(checks)),
      lastResults: (members) => count(storage.lastResults(members)),
      incident: (id, limits) => count(storage.incident(id, limits)),
      replicas: count(storage.replicas),
      policyVersions: (...asked) => count(storage.policyVersions(...asked)),
      establish: (name, value) => count(storage.establish(name, value)),
    })
  }

  #reached<A>(name: Called, call: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> {
    if (this.#isBroken) return Effect.fail(failed)
    if (!this.#counted.includes(name)) return call
    this.#calls += 1
    const planned = this.#planned
    if (planned === undefined || this.#calls !== planned.at) return call
    this.#planned = undefined
    switch (planned.interruption) {
      case "fails":
        return Effect.fail(failed)
      case "loses its reply":
        return Effect.andThen(call, Effect.fail(failed))
      case "throws":
        return Effect.die(new Error("a defect in the storage, for a test"))
      case "breaks off":
        this.#isBroken = true
        return Effect.fail(failed)
      case "changes":
        return Effect.andThen(planned.change, call)
    }
  }
}
