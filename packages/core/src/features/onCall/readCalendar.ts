import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { overridesEndingAfter } from "./overrideDecisions.ts"
import { compileGiven, type Policy } from "../../heart/policy/compilePolicy.ts"
import {
  addTurns,
  firstTurn,
  type Turn,
  turnsBetween,
  turnsSince,
  wholeTurns,
} from "../../heart/policy/onCall.ts"
import type { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import type { Hashing, LinkSigner } from "../../kernel/ports/Hashing.ts"
import type { PolicySource } from "../../heart/usecases/PolicySource.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"

/** Days that are computed in one turn of the event loop: some milliseconds, where a rota changes each hour. */
const DAYS_TOGETHER = Duration.days(8)

/** {@link turnsBetween}, in pieces between which results pass. */
export const turnsInPieces = Effect.fnUntraced(function* (
  ...[rotas, name, overrides, { from, most, to }]: Parameters<typeof turnsBetween>
) {
  const turns: Array<Turn> = []
  for (let at = from; at < to;) {
    const until = Instant.min(Instant.plus(at, DAYS_TOGETHER), to)
    const following = turnsBetween(rotas, name, overrides, { from: at, to: until, most })
    addTurns(turns, following ?? [])
    if (following === undefined || turns.length > most) return undefined
    at = until
    yield* Effect.yieldNow
  }
  return turns
})

/** A moment of a calendar: in UTC, to the second. */
const moment = (at: Instant.Instant): string => `${Instant.format(at).slice(0, 19).replaceAll(/[-:]/g, "")}Z`

/** RFC 5545 limits a line to 75 octets; names of receivers are ASCII. */
const folded = (line: string): string => line.match(/^.{1,75}|.{1,74}/g)?.join("\r\n ") ?? ""

const MICROS_PER_SECOND = 1_000_000n

/**
 * When events changed, by the moments of all changes to them: the last one, to the second, and a second later for each
 * that was no second after the one before, so that no two changes have one time.
 */
export const lastChange = (changes: ReadonlyArray<Instant.Instant>): Instant.Instant =>
  changes
    .toSorted((a, b) => Number(a - b))
    .map(Instant.wholeSecond)
    .reduce(
      (last, at) => Instant.max(at, Instant.fromMicros(last + MICROS_PER_SECOND)),
      Instant.fromMicros(-MICROS_PER_SECOND),
    )

/** Revisions count seconds from 2020 on: numbers of a calendar have 31 bits. */
const FIRST_DAY = Instant.fromMillis(1_577_836_800_000)

interface CalendarShown {
  readonly rota: NotifierName
  /** Distinguishes its events from those of other rotas. */
  readonly id: string
  /** Between which moments the turns were computed. */
  readonly edges: Pick<Turn, "from" | "to">
  /** When turns changed last. */
  readonly changed: Instant.Instant
  /** When turns at an edge did, which move with it. */
  readonly moved: Instant.Instant
}

/** Events whose text is made in one turn of the event loop: some milliseconds. */
const EVENTS_TOGETHER = 200

const textOf = (lines: ReadonlyArray<string>): string => lines.map((line) => `${folded(line)}\r\n`).join("")

/**
 * Turns as an iCalendar (RFC 5545): the names of the rota and of receivers, and nothing else. An event keeps its UID as long as the turn
 * begins when it does. That of a turn which begins at the edge of the calendar, each day another moment, is named by
 * its end, if that is before the other edge. Programs take over what another revision says, and ignore the rest.
 */
export function* calendarPieces(turns: ReadonlyArray<Turn>, shown: CalendarShown): Generator<string> {
  yield textOf([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Tocsin//On call//EN",
    `NAME:On call: ${shown.rota}`,
    `X-WR-CALNAME:On call: ${shown.rota}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
  ])
  const whole = wholeTurns(turns)
  for (let first = 0; first < whole.length; first += EVENTS_TOGETHER)
    yield textOf(whole.slice(first, first + EVENTS_TOGETHER).flatMap((turn) => eventOf(turn, shown)))
  yield textOf(["END:VCALENDAR"])
}

const eventOf = ({ from, receivers, to }: Turn, { changed, edges, id, moved }: CalendarShown) => {
  const at = from > edges.from && to < edges.to ? changed : moved
  return [
    "BEGIN:VEVENT",
    `UID:${from > edges.from ? moment(from) : to < edges.to ? `until-${moment(to)}` : "always"}-${id}@tocsin`,
    `DTSTAMP:${moment(at)}`,
    `LAST-MODIFIED:${moment(at)}`,
    `SEQUENCE:${Math.max(0, Instant.secondsBetween(FIRST_DAY, Instant.wholeSecond(at)))}`,
    `DTSTART:${moment(from)}`,
    `DTEND:${moment(to)}`,
    `SUMMARY:${receivers.join(String.raw`\, `)}`,
    // Being on call leaves a person free to meet.
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ]
}

/** A calendar has whole turns: it is computed from a day that is far enough from the turns that it shows. */
const CALENDAR = { back: Duration.days(31), ahead: Duration.days(94), beyond: Duration.days(62) }
/** The hours of rotas change at most this often in the time of a calendar. */
const MOST_EVENTS = 20_000
const DAY_MICROS = 86_400_000_000n

export interface CalendarPorts {
  readonly transact: Commits["Service"]["transact"]
  readonly storage: Storage["Service"]
  readonly policy: PolicyInForce["Service"]
  readonly source: PolicySource
  readonly tokens: LinkSigner | undefined
  readonly sha256: Hashing["Service"]["sha256"]
}

/** Changes before the last of these spans that a calendar has no turns of count as its begin: their rows may be gone. */
const FORGOTTEN_MICROS = 62n * DAY_MICROS

const EPOCH = Instant.fromMicros(0n)
/** As many versions are read at once; few are stored within a second. */
const VERSIONS_AT_ONCE = 5

/** When a version of the policy was stored, and those before it that were within as many seconds as there are. */
const storedAt = Effect.fnUntraced(function* ({ storage }: CalendarPorts, version: number) {
  const changes: Array<Instant.Instant> = []
  for (let upTo = version; upTo > 0; upTo -= VERSIONS_AT_ONCE) {
    const read = yield* storage.policyVersions(0, VERSIONS_AT_ONCE, upTo)
    changes.push(...read.map(({ applied_at }) => applied_at))
    const span = Instant.secondsBetween(changes.at(-1) ?? EPOCH, changes[0] ?? EPOCH)
    if (read.length < VERSIONS_AT_ONCE || span > changes.length) break
  }
  return changes
})

/** The policy in force, or a later one that another server has stored, which this one follows within seconds. */
const newestPolicy = Effect.fnUntraced(function* ({ policy, source, storage }: CalendarPorts) {
  const current = policy.current()
  if (current.version === undefined || source.source !== "stored") return current
  const [later] = yield* storage.policyVersions(current.version, 1)
  if (later === undefined) return current
  return yield* source.follow(later.text).pipe(
    Effect.map(({ document }): Policy => ({
      ...compileGiven(document, policy.given()),
      version: later.version,
    })),
    Effect.orElseSucceed(() => current),
  )
})

/** The calendar of the rota that has this token, in whole turns (docs/rules.md#calendars). */
export const readCalendar = Effect.fnUntraced(function* (
  ports: CalendarPorts,
  token: string,
  called?: string,
) {
  const since = ports.policy.since()
  const { rotas, version } = yield* newestPolicy(ports)
  const name = Array.from(rotas?.byName.keys() ?? []).find((one) => ports.tokens?.isOfCalendar(token, one))
  if (rotas === undefined || name === undefined || (called ?? name) !== name)
    return yield* new NotFound({
      message: "no rota has this calendar; list rotas with GET /ops/v1/rotas",
    })
  const stored = version === undefined ? [since] : yield* storedAt(ports, version)
  const now = yield* Instant.now
  const day = Instant.fromMicros(now - (now % DAY_MICROS))
  const begin = Instant.minus(day, CALENDAR.back)
  const end = Instant.plus(day, CALENDAR.ahead)
  const from = Instant.minus(begin, CALENDAR.beyond)
  const forgotten = Instant.fromMicros(begin - (begin % FORGOTTEN_MICROS))
  const overrides = yield* ports.transact(overridesEndingAfter(Instant.min(from, forgotten)))
  const to = Instant.plus(end, CALENDAR.beyond)
  const turns = (yield* turnsInPieces(rotas, name, overrides, { from, to, most: MOST_EVENTS })) ?? []
  const shown = turnsSince(turns, firstTurn(rotas, name)).filter((turn) => turn.to > begin && turn.from < end)
  const names = [name, ...(rotas.byName.get(name)?.otherwise ?? [])]
  const changes = [
    forgotten,
    ...stored,
    ...overrides
      .filter(({ rota }) => names.includes(rota))
      .flatMap(({ created_at, ends_at }) => (ends_at <= now ? [created_at, ends_at] : [created_at])),
  ].filter((at) => at >= forgotten)
  const pieces = calendarPieces(shown, {
    rota: name,
    id: ports.sha256(token).slice(0, 16),
    edges: { from, to },
    changed: lastChange(changes),
    moved: lastChange([...changes, day]),
  })
  let text = ""
  for (const piece of pieces) {
    text += piece
    yield* Effect.yieldNow
  }
  return text
})
