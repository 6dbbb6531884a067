import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { RotaOverrideRecord } from "../model/RotaOverrideRecord.ts"
import { compileRota, periodAt, type Rota } from "./Rota.ts"
import { toInstant } from "./Schedule.ts"

/** An override, without the columns that decide nothing. */
export interface RotaOverride extends Omit<RotaOverrideRecord, "created_by" | "id" | "note"> {
  readonly id: string
}

type Overrides = ReadonlyArray<RotaOverride>

/** The rotas of a policy, and the receivers that it has. */
export interface Rotas {
  readonly byName: ReadonlyMap<NotifierName, Rota>
  readonly receivers: { readonly has: (name: NotifierName) => boolean }
}

export const compileRotas = (
  rotas: PolicyDocument["rotas"],
  receivers: Rotas["receivers"],
): Rotas | undefined => {
  const byName = new Map(Object.entries(rotas ?? {}).map(([name, rota]) => [name, compileRota(rota)]))
  return byName.size === 0 ? undefined : { byName, receivers }
}

export interface OnCall {
  readonly receivers: ReadonlyArray<NotifierName>
  readonly by: "override" | "otherwise" | "turn"
}

/** The receivers of an override that a policy lacks. With one of them, the override does not count. */
export const missingReceivers = (
  { receivers }: Pick<RotaOverride, "receivers">,
  has: (name: NotifierName) => boolean,
): ReadonlyArray<NotifierName> => receivers.filter((name) => !has(name))

/** Whether an override counts. A damaged row has no receivers. */
const isUsable = (override: RotaOverride, { receivers }: Rotas): boolean =>
  override.receivers.length > 0 && missingReceivers(override, (name) => receivers.has(name)).length === 0

const isLater = (one: RotaOverride, other: RotaOverride): boolean =>
  one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at

/** The override that counts at a moment: the latest created that covers it. */
const overrideAt = (rotas: Rotas, name: NotifierName, overrides: Overrides, at: Instant.Instant) => {
  let found: RotaOverride | undefined
  for (const one of overrides)
    if (one.rota === name && one.starts_at <= at && at < one.ends_at && isUsable(one, rotas))
      if (found === undefined || isLater(one, found)) found = one
  return found
}

/** Who is on call at a moment (docs/rules.md#on-call); without receivers by a rota that the policy lacks. */
export const onCall = (rotas: Rotas, name: NotifierName, overrides: Overrides, at: Instant.Instant): OnCall =>
  placesAt(rotas, name, overrides, at)[0] ?? { receivers: [], by: "turn" }

/**
 * Who is on call at a moment, and those who come after them, each beside the ones before, while these are out of
 * reach: the turns of the order from the present one on, once round.
 */
export const placesAt = (
  rotas: Rotas,
  name: NotifierName,
  overrides: Overrides,
  at: Instant.Instant,
): ReadonlyArray<OnCall> => {
  const rota = rotas.byName.get(name)
  if (rota === undefined) return []
  const { isOutside, place } = periodAt(rota, at)
  const turns = [...rota.order.slice(place), ...rota.order.slice(0, place)].map(
    (receivers) => ({ receivers, by: "turn" }) as const,
  )
  const override = overrideAt(rotas, name, overrides, at)
  if (override !== undefined) return [{ receivers: override.receivers, by: "override" }, ...turns]
  if (!isOutside) return turns
  const [other = name] = rota.otherwise
  const receivers = rotas.byName.has(other) ? onCall(rotas, other, overrides, at).receivers : rota.otherwise
  return [{ receivers, by: "otherwise" }, ...turns]
}

/** The changes of a rota around a moment: when the last one was, up to it, and when the next one may be. */
export const changesAround = (
  rotas: Rotas,
  name: NotifierName,
  overrides: Overrides,
  at: Instant.Instant,
): { readonly before: Instant.Instant | undefined; readonly after: Instant.Instant | undefined } => {
  const rota = rotas.byName.get(name)
  if (rota === undefined) return { before: undefined, after: undefined }
  const { isOutside, since, until } = periodAt(rota, at)
  const [other = name] = isOutside ? rota.otherwise : []
  const others = other === name ? undefined : changesAround(rotas, other, overrides, at)
  let before = Instant.latest([since, others?.before])
  let after = Instant.earliest([until, others?.after])
  const consider = (moment: Instant.Instant) => {
    if (moment > at) after = after === undefined ? moment : Instant.min(after, moment)
    else before = before === undefined ? moment : Instant.max(before, moment)
  }
  for (const { ends_at, rota: of, starts_at } of overrides) {
    if (of !== name || starts_at >= ends_at) continue
    consider(starts_at)
    consider(ends_at)
  }
  return { before, after }
}

/** The next moment at which another one may be on call. */
const changeAfter = (
  rotas: Rotas,
  name: NotifierName,
  overrides: Overrides,
  at: Instant.Instant,
): Instant.Instant | undefined => changesAround(rotas, name, overrides, at).after

/** Receivers on call for a span. */
export interface Turn extends OnCall {
  readonly from: Instant.Instant
  readonly to: Instant.Instant
}

const isSame = (one: OnCall, other: OnCall): boolean => one.by === other.by && haveSame(one, other)

const haveSame = (one: Pick<OnCall, "receivers">, other: Pick<OnCall, "receivers">): boolean =>
  one.receivers.join() === other.receivers.join()

/** Adds a turn, which prolongs the one before it if that is equal. */
const addTurn = (turns: Array<Turn>, turn: Turn, isEqual: typeof isSame): void => {
  const last = turns.at(-1)
  if (last !== undefined && isEqual(last, turn)) turns[turns.length - 1] = { ...last, to: turn.to }
  else turns.push(turn)
}

/** How far ahead {@link stayFrom} looks for a change. */
const AHEAD = Duration.days(93)

/** Who is on call from a moment on, and until when if that is less than 93 days. */
export const stayFrom = (rotas: Rotas, name: NotifierName, overrides: Overrides, from: Instant.Instant) => {
  const present = onCall(rotas, name, overrides, from)
  const end = Instant.plus(from, AHEAD)
  let until = changeAfter(rotas, name, overrides, from)
  while (until !== undefined && until < end && isSame(onCall(rotas, name, overrides, until), present))
    until = changeAfter(rotas, name, overrides, until)
  return { ...present, from, until: until === undefined || until >= end ? undefined : until }
}

/** Who is on call in a span; neighbours that are equal are one. Nothing if these are more than `most`. */
export const turnsBetween = (
  rotas: Rotas,
  name: NotifierName,
  overrides: Overrides,
  { from, most, to }: { readonly from: Instant.Instant; readonly to: Instant.Instant; readonly most: number },
): ReadonlyArray<Turn> | undefined => {
  const turns: Array<Turn> = []
  // A day has few of all overrides.
  let within: Overrides = []
  let dayEnd = from
  for (let at = from; at < to;) {
    if (at >= dayEnd) {
      const end = Instant.min(Instant.plus(at, Duration.days(1)), to)
      within = overrides.filter(({ ends_at, starts_at }) => ends_at > at && starts_at < end)
      dayEnd = end
    }
    const present = onCall(rotas, name, within, at)
    const next = Instant.min(changeAfter(rotas, name, within, at) ?? dayEnd, dayEnd)
    addTurn(turns, { ...present, from: at, to: next }, isSame)
    if (turns.length > most) return undefined
    at = next
  }
  return turns
}

/** Adds the turns that follow: the first of them prolongs the last if that is equal. */
export const addTurns = (turns: Array<Turn>, following: ReadonlyArray<Turn>): void => {
  for (const turn of following) addTurn(turns, turn, isSame)
}

/** When the first turn of a rota begins. */
export const firstTurn = ({ byName }: Rotas, name: NotifierName): Instant.Instant | undefined => {
  const rota = byName.get(name)
  return rota && toInstant(rota.clock, rota.first)
}

/** Turns without what precedes the first one of their rota, unless an override puts someone on call then. */
export const turnsSince = (
  turns: ReadonlyArray<Turn>,
  first: Instant.Instant | undefined = Instant.fromMicros(0n),
): ReadonlyArray<Turn> =>
  turns
    .filter(({ by, to }) => by === "override" || to > first)
    .map((turn) => (turn.by === "override" ? turn : { ...turn, from: Instant.max(turn.from, first) }))

/** Turns of whole seconds, whatever puts their receivers on call. One within a second is none. */
export const wholeTurns = (turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> => {
  const whole: Array<Turn> = []
  for (const turn of turns) {
    const [from, to] = [Instant.wholeSecond(turn.from), Instant.wholeSecond(turn.to)]
    if (from < to) addTurn(whole, { ...turn, from, to }, haveSame)
  }
  return whole
}
