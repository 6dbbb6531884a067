import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  inOrder,
  isHeld,
  isRetried,
  isUnended,
  type OutboxRecord,
  wasAttempted,
  wasSent,
} from "../model/OutboxRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { changesAround, type OnCall, placesAt, type RotaOverride, type Rotas } from "../policy/onCall.ts"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import { asChanged, findOnce } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { lastAttempted, quietSince } from "./Hold.ts"
import { leastOf, type NamedReceiver, type NamedReceivers } from "../policy/routing.ts"

/** The facts, besides the rotas, that decide who is on call for an incident. */
export interface OnCallFacts {
  readonly now: Instant.Instant
  readonly overrides: ReadonlyArray<RotaOverride>
  /** Its firings that are not discarded, or were attempted before an acknowledgement's end discarded them. */
  readonly firings: ReadonlyArray<OutboxRecord>
  readonly openedAt: Instant.Instant
  /** When its acknowledgement began, until that has ended. */
  readonly acknowledgedAt?: Instant.Instant | undefined
  /** How long a firing may be in retry until its receiver counts as out of reach. */
  readonly patience?: ((receiver: NotifierName) => Duration.Duration) | undefined
  /** The receivers that no live server can use, each with the moment from which they count as out of reach. */
  readonly unusable: ReadonlyMap<NotifierName, Instant.Instant>
}

/** Rotas are not looked at further back than this: overrides are at most as long. */
const LOOKS_BACK = Duration.days(31)
/** Nor further than so many changes. Who has been on call through all of these has come long ago. */
const MOST_CHANGES = 100
const INSTANT = 1n
/** A receiver whose firing is in retry for so long is out of reach. Mail servers that greylist take longer. */
export const LOST_AFTER = Duration.minutes(5)
const MAIL_LOST_AFTER = Duration.minutes(30)

/** Who is on call for an incident also depends on its firings and opening. */
export type PresentOnCall = Omit<OnCallFacts, "acknowledgedAt" | "openedAt">

const NONE_UNUSABLE: OnCallFacts["unusable"] = new Map()

/** Reads the facts that decide who is on call, as this transaction leaves it; nothing without rotas. Locks nothing. */
export function* readOnCall(
  unit: UnitOfWork,
  { receivers, rotas, unusable = NONE_UNUSABLE }: Policy,
  now: Instant.Instant,
): Decision<Omit<PresentOnCall, "firings">> {
  if (rotas === undefined) return { now, unusable, overrides: [] }
  const stored = yield* findOnce(unit, "overridesEndingAfter", Instant.minus(now, LOOKS_BACK))
  const patience = (receiver: NotifierName) => {
    const definition = receivers.get(receiver)?.definition
    return definition?.kind === "messenger" && definition.type === "email" ? MAIL_LOST_AFTER : LOST_AFTER
  }
  return { now, unusable, patience, overrides: asChanged(stored, unit.keyed.changesOf("rota_override")) }
}

/** A receiver that comes on call for an incident, and is owed a firing by that alone. */
export interface Handover {
  readonly cause: "handover" | "escalation"
}

/** The rotas that an incident names, as they are for it. */
export class NamedRotas {
  readonly #rotas: Rotas
  readonly #names: ReadonlyArray<NotifierName>
  readonly #facts: OnCallFacts

  constructor(rotas: Rotas, named: NamedReceivers, facts: OnCallFacts) {
    this.#rotas = rotas
    this.#names = Array.from(named.keys()).filter((name) => rotas.byName.has(name))
    this.#facts = facts
  }

  /** The next moment at which others may be on call. */
  get nextChange(): Instant.Instant | undefined {
    const { now, overrides, unusable } = this.#facts
    const { firings } = this.#facts
    const losses = [...unusable.values(), ...firings.flatMap((item) => this.#lostFrom(item) ?? [])]
    return Instant.earliest([
      ...this.#names.map((name) => changesAround(this.#rotas, name, overrides, now).after),
      ...losses.filter((at) => at > now),
    ])
  }

  /** The receivers that these names lead to. Those who stand beside another get an escalation. */
  resolve(named: NamedReceivers): NamedReceivers {
    const found = new Map<NotifierName, NamedReceiver>()
    const add = (receiver: NotifierName, as: NamedReceiver) =>
      found.set(receiver, leastOf(found.get(receiver), as))
    for (const [name, as] of named) {
      if (!this.#rotas.byName.has(name)) {
        add(name, as)
        continue
      }
      for (const [place, { receivers }] of this.#onCall(name, this.#facts.now).entries()) {
        const present = place === 0 ? as : { ...as, first: undefined, beside: as.first }
        const laterRotas = new Map(as.later.map((delay) => [Duration.toMillis(delay), [name]]))
        for (const receiver of receivers) add(receiver, { ...present, laterRotas, rotas: [name] })
      }
    }
    return found
  }

  /** When and by which of these rotas, which it is in now, a receiver came on call: the last time after the opening. */
  lastCame(
    receiver: NotifierName,
    rotas: ReadonlyArray<NotifierName>,
  ): { readonly at: Instant.Instant; readonly rota: NotifierName } | undefined {
    const all = rotas.map((rota) => ({ at: this.#cameTo(rota, receiver), rota }))
    const at = Instant.latest(all.map((came) => came.at))
    const last = all.find((came) => came.at === at)
    return at && last && { at, rota: last.rota }
  }

  /** Since when a receiver has been on call in one of these rotas; absent if it was as the incident opened. */
  hasBeenSince(receiver: NotifierName, rotas: ReadonlyArray<NotifierName>): Instant.Instant | undefined {
    const came = rotas.map((rota) => this.#cameTo(rota, receiver))
    return came.includes(undefined) ? undefined : Instant.earliest(came)
  }

  /** Those out of reach beside whom a receiver is on call. */
  lostBefore(receiver: NotifierName, rotas: ReadonlyArray<NotifierName>): ReadonlyArray<NotifierName> {
    const { now } = this.#facts
    const before = rotas.flatMap((name) => {
      const places = this.#onCall(name, now)
      const own = places.findIndex(({ receivers }) => receivers.includes(receiver))
      return places.slice(0, Math.max(0, own))
    })
    const lost = before.flatMap(({ receivers }) => receivers).filter((one) => this.#isLost(one, now))
    return Array.from(new Set(lost))
  }

  /** Whether a receiver is owed a firing because it came on call, whatever it knows (docs/rules.md#handovers). */
  handoverTo(receiver: NotifierName, rotas: ReadonlyArray<NotifierName>): Handover | undefined {
    const { firings, now } = this.#facts
    const own = firings.filter((item) => item.receiver === receiver)
    for (const name of rotas) {
      const came = this.#cameTo(name, receiver)
      if (came === undefined || own.some((item) => isAttemptedSince(item, came))) continue
      const before = Instant.fromMicros(came - INSTANT)
      if (this.#names.some((other) => this.#isOnCall(other, receiver, before))) continue
      const isNotified = (item: OutboxRecord) =>
        item.receiver !== receiver &&
        item.rotas?.includes(name) === true &&
        wasAttempted(item) &&
        begunAt(item) < came
      if (!firings.some(isNotified)) continue
      const isFirst = this.#onCall(name, now)[0]?.receivers.includes(receiver) === true
      return { cause: isFirst ? "handover" : "escalation" }
    }
    return undefined
  }

  #cameTo(name: NotifierName, receiver: NotifierName): Instant.Instant | undefined {
    const { now, openedAt, overrides } = this.#facts
    const since = Instant.max(openedAt, Instant.minus(now, LOOKS_BACK))
    for (let at = now, looks = 0; looks < MOST_CHANGES; looks++) {
      const { before: changed } = changesAround(this.#rotas, name, overrides, at)
      const came = Instant.latest([changed, this.#lastLoss(at)])
      if (came === undefined || came <= since) return undefined
      at = Instant.fromMicros(came - INSTANT)
      if (!this.#isOnCall(name, receiver, at)) return came
    }
    return undefined
  }

  #isOnCall(name: NotifierName, receiver: NotifierName, at: Instant.Instant): boolean {
    return this.#onCall(name, at).some(({ receivers }) => receivers.includes(receiver))
  }

  /** Who is on call, and those beside them while all before are out of reach. */
  #onCall(name: NotifierName, at: Instant.Instant): ReadonlyArray<OnCall> {
    const places = placesAt(this.#rotas, name, this.#facts.overrides, at)
    const reached = places.findIndex(({ receivers }) => !receivers.some((one) => this.#isLost(one, at)))
    return reached < 0 ? places : places.slice(0, reached + 1)
  }

  /**
   * Whether a receiver was out of reach: no server could use it, or what it was sent was refused for good or stayed in
   * retry, and no attempt has succeeded since.
   */
  #isLost(receiver: NotifierName, at: Instant.Instant): boolean {
    const unusableFrom = this.#facts.unusable.get(receiver)
    if (unusableFrom !== undefined && unusableFrom <= at) return true
    const own = this.#facts.firings.filter((item) => item.receiver === receiver)
    const isReached = (from: Instant.Instant) =>
      own.some((item) => wasSent(item) && from < item.updated_at && item.updated_at <= at)
    const isInRetry = (item: OutboxRecord) => {
      const from = this.#lostFrom(item)
      return from !== undefined && from <= at && !isReached(from)
    }
    const last = own
      .filter((item) => item.updated_at <= at && (wasSent(item) || item.state === "failed"))
      .toSorted(inOrder)
      .at(-1)
    return last?.state === "failed" || own.some(isInRetry)
  }

  /** When the receiver of a firing was out of reach, or will be, because attempts did not end well for so long. */
  #lostFrom(item: OutboxRecord): Instant.Instant | undefined {
    const { acknowledgedAt, patience } = this.#facts
    const { age_starts_at, first_attempted_at, receiver, state, updated_at } = item
    if (patience === undefined || first_attempted_at === undefined) return undefined
    const from = Instant.plus(Instant.max(first_attempted_at, age_starts_at), patience(receiver))
    // The time under an acknowledgement does not count.
    const heldFrom = quietSince(item) ?? (isRetried(item) ? acknowledgedAt : undefined)
    const until = heldFrom ?? (state === "retry" ? undefined : updated_at)
    return until === undefined || from < until ? from : undefined
  }

  /** When a receiver was out of reach for the last time, up to a moment. */
  #lastLoss(until: Instant.Instant): Instant.Instant | undefined {
    const { firings, unusable } = this.#facts
    const refused = firings.filter(({ state }) => state === "failed").map(({ updated_at }) => updated_at)
    const inRetry = firings.flatMap((item) => this.#lostFrom(item) ?? [])
    return Instant.latest([...refused, ...inRetry, ...unusable.values()].filter((at) => at <= until))
  }
}

/** A clock that was set back leaves the first attempt ahead, but not the last change. */
const begunAt = ({ first_attempted_at, updated_at }: OutboxRecord): Instant.Instant =>
  Instant.min(first_attempted_at ?? updated_at, updated_at)

/**
 * The last change of an item that was attempted and does not wait is the end of its last attempt. One that nothing
 * has held since then is about to be attempted.
 */
const isAttemptedSince = (item: OutboxRecord, at: Instant.Instant): boolean =>
  item.state === "sending" ||
  (wasAttempted(item) && lastAttempted(item) >= at) ||
  (isUnended(item) && !isHeld(item) && item.age_starts_at >= at)
