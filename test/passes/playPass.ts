import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { StoredHold } from "@tocsin/core/heart/model/StoredHold"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "@tocsin/testing/rowsOf"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Context, Duration, Effect, Layer } from "effect"
import { documentOf, NAMES, type Pass, type PassWorld } from "./Pass.ts"
import { type Interruption, InterruptedStorage } from "./InterruptedStorage.ts"
import { openService, type Process, type Service, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { onShiftedClock, type ShiftedClock } from "../service/ShiftedClock.ts"

/** Where a run is interrupted. */
export interface Interrupted {
  readonly interruption: Interruption
  readonly at: number
}

/** The columns that differ between two right runs: numbers of rows, and counts of attempts. */
const IGNORED: ReadonlySet<string> = new Set(
  "seq incident_seq attempts last_error first_attempted_at seen_event_ids parameters subjects".split(" "),
)
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const withoutIds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIds)
  return typeof value === "string" ? value.replaceAll(UUID, "an ID") : value
}

/** Two runs may differ in the ends of holds as in other times. */
const comparableHold = ({ by, ...rest }: StoredHold): object => ({
  by: withoutIds(by),
  ...Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]),
  ),
})

const comparable = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (value === undefined || IGNORED.has(name)) return []
      return [[name, name === "holds" ? value.map(comparableHold) : withoutIds(value)]]
    }),
  )

const everyRow = Effect.fnUntraced(function* ({ receivers, rows }: Service, { storage }: Process) {
  const now = yield* Instant.now
  const lists = yield* Effect.forEach(listNames, (list) =>
    Effect.map(Effect.orDie(rowsOf({ storage }, list)), (found) => [list, found] as const),
  )
  // Each start and each change of the policy is audited.
  const isOfPolicy = (row: object) => "action" in row && row.action === "policy.replaced"
  // One that broke off counts as live for a minute.
  const latest = (yield* Effect.orDie(storage.replicas)).reduce((a, b) => (a.seen_at > b.seen_at ? a : b))
  const { alerts, expectations } = rows()
  const repeated = receivers.repeats
    .filter(({ at }) => at > Instant.minus(now, REPEATED_WITHIN))
    .flatMap((repeat) => repeat.alerts.map(({ incident }) => incident.incident_key))
  const named = (names: Iterable<string>) => Array.from(new Set(names), (name) => ({ name }))
  const all: ReadonlyArray<readonly [string, ReadonlyArray<object>]> = [
    ...lists,
    ["expectations", Array.from(expectations.values())],
    // When each is repeated next depends on when it was last.
    ["alerts", Array.from(alerts.values(), ({ next_at: _, ...alert }) => alert)],
    ["policy", named([latest.policy_hash])],
    ["repeated alerts", named(repeated)],
  ]
  return Object.fromEntries(
    all.map(([name, found]) => [name, found.filter((row) => !isOfPolicy(row)).map(comparable)]),
  )
})

/** An alert is repeated every minute. */
const REPEATED_WITHIN = Duration.seconds(75)
const LEASE = Duration.seconds(15)
const PIECE = 2
const ROUNDS = 10

/** Plays a pass, interrupted or not. */
export const playPass = (pass: Pass, interrupted?: Interrupted, { pieceSize = PIECE } = {}) =>
  onShiftedClock(({ clock }) => Effect.scoped(inWorld(pass, { clock, interrupted, pieceSize })))

interface Playing {
  readonly clock: ShiftedClock
  readonly interrupted: Interrupted | undefined
  readonly pieceSize: number
}

const inWorld = Effect.fnUntraced(function* (pass: Pass, { clock, interrupted, pieceSize }: Playing) {
  const storage = new InterruptedStorage()
  const notifiers = pass.notifiers ?? NAMES
  const over = pass.over && (yield* Layer.build(Layer.fresh(pass.over)))
  const service = yield* openService({
    ...(over && { storage: Context.get(over, Storage) }),
    notifiers,
    deadAfter: pass.deadAfter ?? Duration.days(365),
    clientOf: (client) => storage.clientOf(client),
  })
  let document = documentOf(pass.policy ?? {})
  let sending: ReadonlyArray<NotifierName> = notifiers
  const front = yield* service.open("front", { delivers: false, rules: { policy: document } })
  const time = pass.retention
  const open = Effect.suspend(() =>
    service.open("worker", {
      keepsHouse: true,
      reports: true,
      pieceSize,
      lease: LEASE,
      configured: sending,
      rules: { policy: document },
      retention:
        time === undefined
          ? {}
          : { history: time, incidents: time, outbox: time, pending: time, audit: time },
    }),
  )
  let worker: Process | undefined
  let other: Process | undefined
  const passes = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  /** Work of a real file ends in real time: each round waits for a call, and lets the next one begin. */
  const rounds = Effect.forEach(
    Array.from({ length: pass.over === undefined ? 0 : ROUNDS }),
    () => Effect.andThen(storage.idle, passes("30 seconds")),
    { discard: true },
  )
  const world: PassWorld = {
    clock,
    front,
    receivers: service.receivers,
    follows: (next) => {
      document = next
      const policy = compilePolicy(next, notifiers)
      return Effect.forEach([front, worker], (process) => process?.policy.replace(policy) ?? Effect.void, {
        discard: true,
      })
    },
    sendsTo: (...receivers) => {
      sending = receivers
      return worker?.sendsTo(...receivers) ?? Effect.void
    },
    passes,
    opensOther: Effect.fnUntraced(function* (policy) {
      other = yield* service.open("other", {
        keepsHouse: true,
        reports: true,
        rules: { policy: documentOf(policy) },
      })
    }),
    closesOther: Effect.suspend(() => other?.close ?? Effect.void),
  }
  const change = Effect.suspend(() => pass.change?.(world) ?? Effect.void)
  const detour = interrupted?.interruption === "changes" ? pass.detour : undefined

  yield* settled
  yield* pass.begin(world)
  worker = yield* open
  yield* settled
  if (pass.ready !== undefined) yield* pass.ready(world)
  yield* detour === undefined ? change : detour(world)
  const before = interrupted === undefined ? yield* everyRow(service, front) : {}
  storage.plan(interrupted && { ...interrupted, change }, pass.calls ?? ["transact", "page"])
  yield* world.passes(pass.lasts)
  const { calls } = storage
  // A run with a detour may take fewer calls.
  if (detour !== undefined && storage.isPlanned) yield* change
  storage.plan(undefined, [])
  if (storage.isBroken) {
    yield* whileTimePasses(worker.close)
    storage.restart()
    worker = yield* open
  }
  yield* passes(pass.settles)
  yield* rounds
  // Calls are those in the time in which one may be interrupted.
  return { calls, before, rows: yield* everyRow(service, front) }
})
