import { Duration } from "effect"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument, Rota as RotaDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { compileHours, hoursProblems, occurrenceAround, type Recurring } from "./occurrences.ts"
import { at as placedAt, problem, problemIf, type Problems } from "./problemsAt.ts"
import { isKind } from "./receiverProblems.ts"
import { type Clock, clockOf, latestWall, toInstant, zoneProblems } from "./Schedule.ts"

type Receivers = ReadonlyArray<NotifierName>

/** A rota as decisions use it, compiled once (docs/rules.md#on-call). */
export interface Rota {
  readonly order: ReadonlyArray<Receivers>
  /** Its turns begin at the times `first` + n × `every` of this clock, in milliseconds since 1970 by it. */
  readonly clock: Clock
  readonly first: number
  readonly every: number
  readonly hours: ReadonlyArray<Recurring> | undefined
  /** Outside the hours: receivers, or one name that is a rota's. */
  readonly otherwise: Receivers
}

const listOf = (turn: RotaDocument["order"][number]): Receivers => (typeof turn === "string" ? [turn] : turn)

/** Absent for a day that the calendar lacks. */
const wallOf = (from: string): number | undefined => {
  const shown = Instant.parse(`${from}:00Z`)
  return shown && Instant.toMillis(shown)
}

// Rotas of a document that was read are valid.
export const compileRota = ({ every, from, hours, order, otherwise, tz = "UTC" }: RotaDocument): Rota => ({
  order: order.map(listOf),
  clock: clockOf(tz),
  first: wallOf(from) ?? 0,
  every: Duration.toMillis(every),
  hours: hours?.map((one) => compileHours({ ...one, tz })),
  otherwise: otherwise === undefined ? [] : listOf(otherwise),
})

/** The names that a rota has as receivers, or as the rota outside its hours. */
export const namesIn = ({ order, otherwise }: RotaDocument): Receivers => [
  ...order.flatMap(listOf),
  ...(otherwise === undefined ? [] : listOf(otherwise)),
]

/** The receivers among some names, and the receivers of the rotas among them. */
export const reachedBy = (names: Receivers, rotas: PolicyDocument["rotas"] = {}): Receivers => {
  const known = new Map(Object.entries(rotas))
  const ofRota = (name: NotifierName) => {
    const rota = known.get(name)
    return rota === undefined ? [name] : namesIn(rota)
  }
  // A rota may name another one, which names receivers alone.
  return names.flatMap(ofRota).flatMap(ofRota)
}

/** A span in which neither the turn of a rota changes, nor whether its hours are. */
export interface RotaPeriod {
  readonly since: Instant.Instant | undefined
  readonly until: Instant.Instant | undefined
  /** The position of the turn in the order. */
  readonly place: number
  /** Outside the hours, no turn counts. */
  readonly isOutside: boolean
}

/** The number of the turn at a moment: none is negative, since the first of the order has it before the first turn. */
const turnAt = ({ clock, every, first }: Rota, at: Instant.Instant) => {
  const begins = (turn: number) => toInstant(clock, first + turn * every)
  let turn = Math.floor((latestWall(clock, at) - first) / every)
  while (turn > 0 && begins(turn) > at) turn -= 1
  return turn <= 0
    ? { turn: 0, since: undefined, until: begins(1) }
    : { turn, since: begins(turn), until: begins(turn + 1) }
}

/** The latest periods: nearly every decision asks in the same one. */
const latest = new WeakMap<Rota, RotaPeriod>()

const isWithin = ({ since, until }: RotaPeriod, at: Instant.Instant): boolean =>
  (since === undefined || since <= at) && (until === undefined || at < until)

/** The period of a rota at a moment. */
export const periodAt = (rota: Rota, at: Instant.Instant): RotaPeriod => {
  const known = latest.get(rota)
  if (known !== undefined && isWithin(known, at)) return known
  const { since, turn, until } = turnAt(rota, at)
  const changes = (rota.hours ?? []).map((recurring) => {
    const { ends_at, next, starts_at } = occurrenceAround(recurring, at)
    return at < ends_at
      ? { isOpen: true, before: starts_at, after: ends_at }
      : { isOpen: false, before: ends_at, after: next }
  })
  const isAlone = rota.order.length === 1
  const period = {
    since: Instant.latest([...(isAlone ? [] : [since]), ...changes.map(({ before }) => before)]),
    until: Instant.earliest([...(isAlone ? [] : [until]), ...changes.map(({ after }) => after)]),
    place: turn % rota.order.length,
    isOutside: rota.hours !== undefined && !changes.some(({ isOpen }) => isOpen),
  }
  latest.set(rota, period)
  return period
}

const EVERY_RULE = "must be whole days (1d to 31d), or hours that divide a day: 1h, 2h, 3h, 4h, 6h, 8h or 12h"
const DAY = Duration.toMillis(Duration.days(1))
const HOUR = Duration.toMillis(Duration.hours(1))

/** The faults of rotas that their schema cannot express; `unknown` makes the one of a name that no receiver has. */
export const rotaProblems = (
  { rotas = {} }: Pick<PolicyDocument, "rotas">,
  receivers: { readonly has: (name: string) => boolean },
  unknown: Named["unknown"],
): Problems =>
  Object.entries(rotas).flatMap(([name, rota]) =>
    placedAt(problemsOf(name, rota, { rotas, receivers, unknown }), "rotas", name),
  )

interface Named {
  readonly rotas: Readonly<Record<string, RotaDocument>>
  readonly receivers: { readonly has: (name: string) => boolean }
  readonly unknown: (...path: ReadonlyArray<PropertyKey>) => FieldProblem
}

const problemsOf = (name: string, rota: RotaDocument, named: Named): Problems => {
  const { from, hours = [], order, tz = "UTC" } = rota
  const every = Duration.toMillis(rota.every)
  const divides = every % DAY === 0 || (every < DAY && every % HOUR === 0 && DAY % every === 0)
  return [
    ...problemIf(named.receivers.has(name), "is the name of a receiver too"),
    ...problemIf(isKind(name), "must not be named like a kind"),
    ...zoneProblems(tz),
    ...problemIf(wallOf(from) === undefined, "must be a day that the calendar has", "from"),
    ...problemIf(!divides, EVERY_RULE, "every"),
    ...order.flatMap((turn, n) => unknownIn(turn, named, "order", n)),
    ...hours.flatMap((one, n) => {
      const problems = hoursProblems({ ...one, tz }).filter(({ path: [field] }) => field !== "tz")
      return placedAt(problems, "hours", n)
    }),
    ...otherwiseProblems(rota, named),
  ]
}

const unknownIn = (
  turn: RotaDocument["order"][number],
  { receivers, rotas, unknown }: Named,
  ...path: ReadonlyArray<PropertyKey>
): Problems =>
  listOf(turn).flatMap((name, n) => {
    if (receivers.has(name)) return []
    const place = [...path, ...(typeof turn === "string" ? [] : [n])]
    const isRota = Object.hasOwn(rotas, name)
    return [isRota ? problem("is a rota; name receivers here", ...place) : unknown(...place)]
  })

const otherwiseProblems = ({ hours, otherwise }: RotaDocument, named: Named): Problems => {
  if (hours === undefined)
    return problemIf(otherwise !== undefined, "must be absent without hours", "otherwise")
  if (otherwise === undefined) return [problem("is missing: who is on call outside the hours?", "otherwise")]
  if (typeof otherwise !== "string" || !Object.hasOwn(named.rotas, otherwise))
    return unknownIn(otherwise, named, "otherwise")
  const isNested = named.rotas[otherwise]?.otherwise !== undefined
  return problemIf(isNested, "must be a rota without otherwise", "otherwise")
}
