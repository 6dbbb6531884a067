import { Context, Duration, Effect, Layer } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type {
  OverrideId,
  Override,
  OverrideRequest,
  RotaList,
  RotaParameters,
  RotaPlan,
} from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import { includesRole } from "@tocsin/contract/operators/Operators"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { comparing } from "../../kernel/engine/comparing.ts"
import { overrideState, type RotaOverrideRecord } from "../../heart/model/RotaOverrideRecord.ts"
import type { OutboxRecord } from "../../heart/model/OutboxRecord.ts"
import { refusingReceivers } from "../../heart/notifications/refusingReceivers.ts"
import type { Receivers } from "../../heart/notifications/Receivers.ts"
import {
  createOverride,
  endOverride,
  MAX_UNENDED_OVERRIDES,
  overridesEndingAfter,
} from "./overrideDecisions.ts"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import { nextOccurrences } from "../../heart/policy/occurrences.ts"
import { missingReceivers, type Rotas, stayFrom, type Turn } from "../../heart/policy/onCall.ts"
import { CurrentOperator } from "../../kernel/ports/CurrentOperator.ts"
import { LinkSigner } from "../../kernel/ports/Hashing.ts"
import { newId } from "../../kernel/ports/Ids.ts"
import { PolicySource } from "../../heart/usecases/PolicySource.ts"
import { publicUrlOf, type RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import { servedReceivers } from "../../heart/replicas/listedReceivers.ts"
import { NotFound, refusalError, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { type CalendarPorts, readCalendar, turnsInPieces } from "./readCalendar.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

const SPAN = Duration.days(31)
const LONGEST_SPAN = Duration.days(366)
const MOST_TURNS = 1_000

/** The receivers of turns that an override splits, such as a person's phone. */
const leftOut = ({ receivers, rota }: RotaOverrideRecord, { byName }: Rotas): ReadonlyArray<NotifierName> => {
  const split = (byName.get(rota)?.order ?? []).filter((turn) =>
    turn.some((name) => receivers.includes(name)),
  )
  return Array.from(new Set(split.flat())).filter((name) => !receivers.includes(name))
}

const toOverride = (record: RotaOverrideRecord, rotas: Rotas, now: Instant.Instant): Override => ({
  id: record.id,
  rota: record.rota,
  state: overrideState(record, now),
  from: record.starts_at,
  to: record.ends_at,
  receivers: record.receivers,
  missing: missingReceivers(record, (name) => rotas.receivers.has(name)),
  note: record.note ?? null,
  created_by: record.created_by,
  created_at: record.created_at,
  left_out: leftOut(record, rotas),
})

/** Overrides, the latest created first, at most as many as may be unended. */
const shownOverrides = (
  overrides: ReadonlyArray<RotaOverrideRecord>,
  rotas: Rotas,
  now: Instant.Instant,
): ReadonlyArray<Override> =>
  overrides
    .toSorted(
      comparing(
        ({ created_at }) => created_at,
        ({ id }) => id,
      ),
    )
    .toReversed()
    .slice(0, MAX_UNENDED_OVERRIDES)
    .map((one) => toOverride(one, rotas, now))

const stayOf = ({ until, ...stay }: ReturnType<typeof stayFrom>) => ({ ...stay, until: until ?? null })

const onCallNow = (
  rotas: Rotas,
  name: NotifierName,
  overrides: ReadonlyArray<RotaOverrideRecord>,
  now: Instant.Instant,
) => {
  const { from: _, ...present } = stayOf(stayFrom(rotas, name, overrides, now))
  const next = present.until && stayOf(stayFrom(rotas, name, overrides, present.until))
  return { name, now: present, next }
}

/** Receivers on call in turns whose messages do not arrive, or not always. */
const gapsIn = (
  turns: ReadonlyArray<Turn>,
  { receivers }: Policy,
  {
    isServed,
    refusing,
  }: {
    readonly isServed: (name: NotifierName) => boolean
    readonly refusing: ReadonlyMap<NotifierName, OutboxRecord>
  },
): RotaPlan["gaps"] =>
  turns.flatMap(({ from, receivers: names, to }) =>
    names.flatMap((receiver) => {
      const { definition, quiet } = receivers.get(receiver) ?? {}
      const gap = { from, to, receiver }
      const found: Array<RotaPlan["gaps"][number]> = []
      if (definition?.shadow === true)
        found.push({
          ...gap,
          reason: "shadow",
          message: `${receiver} is a shadow, which gets no messages: name another receiver`,
        })
      if (!isServed(receiver))
        found.push({
          ...gap,
          reason: "unavailable",
          message: `no running server can use ${receiver}: give a server its secrets`,
        })
      const refused = refusing.get(receiver)
      if (refused !== undefined)
        found.push({
          ...gap,
          reason: "refused",
          message: `${receiver} refused the last message for good${refused.last_error === undefined ? "" : ` (${refused.last_error})`}: correct it, and send a test`,
        })
      if (quiet !== undefined && nextOccurrences(quiet, from, 1, to).length > 0)
        found.push({
          ...gap,
          reason: "quiet",
          message: `${receiver} is quiet at times, when firings below ${quiet.below} wait: name one without quiet hours beside it`,
        })
      return found
    }),
  )

const noSuchRota = (name: string) =>
  new NotFound({ message: `the policy has no rota ${name}; list rotas with GET /ops/v1/rotas` })

const invalid = (message: string) => new ValidationError({ message })

const spanOf = ({ from, to }: RotaParameters, now: Instant.Instant) => {
  const begin = from ?? now
  const end = to ?? Instant.plus(begin, SPAN)
  if (end <= begin) return Effect.fail(invalid("to must be after from"))
  return end > Instant.plus(begin, LONGEST_SPAN)
    ? Effect.fail(invalid("to must be at most 366 days after from; ask for less at a time"))
    : Effect.succeed({ from: begin, to: end })
}

interface RotaPorts extends CalendarPorts {
  readonly receivers: Receivers["Service"]
  readonly rules: RuleOptions
}

/** The rotas of the policy in force, of which this is one. */
const rotasWith = Effect.fnUntraced(function* ({ policy }: RotaPorts, name: NotifierName) {
  const { rotas } = policy.current()
  return rotas?.byName.has(name) === true ? rotas : yield* noSuchRota(name)
})

/** The receivers that this process or a running server can use. */
const servedNow = ({ receivers, storage }: RotaPorts) =>
  Effect.zipWith(storage.replicas, Instant.now, (replicas, now) =>
    servedReceivers(receivers.current(), replicas, now),
  )

const readRotas = Effect.fnUntraced(function* ({ policy, transact }: RotaPorts) {
  const { rotas } = policy.current()
  if (rotas === undefined) return { items: [] } satisfies RotaList
  const now = yield* Instant.now
  const overrides = yield* transact(overridesEndingAfter(now))
  const names = Array.from(rotas.byName.keys())
  const present = (name: NotifierName) => Effect.as(Effect.yieldNow, onCallNow(rotas, name, overrides, now))
  return { items: yield* Effect.forEach(names, present) }
})

const readPlan = Effect.fnUntraced(function* (
  ports: RotaPorts,
  name: NotifierName,
  parameters: RotaParameters,
): Effect.fn.Return<RotaPlan, NotFound | StorageError | ValidationError> {
  const rotas = yield* rotasWith(ports, name)
  const now = yield* Instant.now
  const { from, to } = yield* spanOf(parameters, now)
  const overrides = yield* ports.transact(overridesEndingAfter(Instant.min(from, now)))
  const turns = yield* turnsInPieces(rotas, name, overrides, { from, to, most: MOST_TURNS })
  if (turns === undefined)
    return yield* invalid(`the rota has more than ${MOST_TURNS} turns in this span; ask for less at a time`)
  const isServed = yield* servedNow(ports)
  const coming = turns.filter((turn) => turn.to > now)
  const unended = overrides.filter((one) => one.rota === name && one.ends_at > now)
  const token = includesRole((yield* CurrentOperator).role, "respond") && ports.tokens?.calendarTokenOf(name)
  return {
    ...onCallNow(rotas, name, overrides, now),
    tz: rotas.byName.get(name)?.clock.zone.name ?? "UTC",
    turns,
    overrides: shownOverrides(unended, rotas, now),
    gaps: gapsIn(coming, ports.policy.current(), {
      isServed: (receiver) => isServed.has(receiver),
      refusing: yield* refusingReceivers(
        ports.storage,
        new Set(coming.flatMap(({ receivers }) => receivers)),
      ),
    }),
    ...(token && { calendar: `${publicUrlOf(ports.rules) ?? ""}/on-call/${token}.ics` }),
  }
})

const readOverrides = Effect.fnUntraced(function* (
  ports: RotaPorts,
  name: NotifierName,
  { from }: Pick<RotaParameters, "from">,
) {
  const rotas = yield* rotasWith(ports, name)
  const now = yield* Instant.now
  const found = yield* ports.transact(overridesEndingAfter(from ?? now))
  const ofRota = found.filter(({ rota }) => rota === name)
  return { items: shownOverrides(ofRota, rotas, now) }
})

/** Refuses receivers whose messages would not arrive. */
const checkReceivers = Effect.fnUntraced(function* (ports: RotaPorts, names: ReadonlyArray<NotifierName>) {
  const { receivers } = ports.policy.current()
  const isServed = yield* servedNow(ports)
  for (const name of names) {
    const receiver = receivers.get(name)
    if (receiver === undefined)
      return yield* invalid(`no receiver has the name ${name}; list receivers with GET /ops/v1/policy`)
    if (receiver.definition?.shadow === true)
      return yield* new StateConflict({
        message: `the receiver ${name} is a shadow, which gets no messages; name another one`,
      })
    if (!isServed.has(name))
      return yield* new StateConflict({
        message: `no running server can use the receiver ${name}; give a server its secrets, or name another one`,
      })
  }
})

/** Operators' actions on rotas (docs/rules.md#on-call). */
const onCallOperations = Effect.gen(function* () {
  const { commits, ids, signed, ...others } = yield* operationPorts
  const newOverrideId = newId<OverrideId>(ids)
  const ports: RotaPorts = {
    ...others,
    transact: commits.transact,
    source: yield* PolicySource,
    tokens: yield* LinkSigner,
  }
  return {
    rotas: readRotas(ports),
    rota: (name: NotifierName, parameters: RotaParameters) => readPlan(ports, name, parameters),
    overrides: (name: NotifierName, since: Pick<RotaParameters, "from">) => readOverrides(ports, name, since),
    calendar: (token: string, rota?: string) => readCalendar(ports, token, rota),
    override: Effect.fn("Operations.override")(function* (
      rota: NotifierName,
      { note, ...asked }: OverrideRequest,
    ) {
      const rotas = yield* rotasWith(ports, rota)
      yield* checkReceivers(ports, asked.receivers)
      const id = newOverrideId(yield* Instant.now)
      const created = yield* signed((by) => createOverride({ ...asked, id, rota, note }, by))
      const override = yield* Effect.mapError(Effect.fromResult(created), refusalError)
      return toOverride(override, rotas, yield* Instant.now)
    }),
    endOverride: Effect.fn("Operations.endOverride")(function* (rota: NotifierName, id: OverrideId) {
      return { count: yield* signed((by) => endOverride(rota, id, by)) }
    }),
  }
})

/** Operators' actions on rotas (docs/rules.md#on-call). */
export class OnCall extends Context.Service<OnCall>()("@tocsin/core/features/onCall/OnCall", {
  make: onCallOperations,
}) {
  static readonly layer = Layer.effect(OnCall, OnCall.make)
}
