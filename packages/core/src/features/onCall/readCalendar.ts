import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { overridesEndingAfter } from "./overrideDecisions.ts"
import { calendarPieces, lastChange } from "./calendarText.ts"
import { compileGiven, type Policy } from "../../heart/policy/compilePolicy.ts"
import { firstTurn, turnsSince } from "../../heart/policy/onCall.ts"
import type { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import type { Hashing, LinkTokens } from "../../kernel/ports/Hashing.ts"
import type { PolicySource } from "../../heart/usecases/PolicySource.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { turnsInPieces } from "./turnsInPieces.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"

/** A calendar has whole turns: it is computed from a day that is far enough from the turns that it shows. */
const CALENDAR = { back: Duration.days(31), ahead: Duration.days(94), beyond: Duration.days(62) }
/** The hours of rotas change at most this often in the time of a calendar. */
const MOST_EVENTS = 20_000
const DAY_MICROS = 86_400_000_000n

/** The services that a calendar is read from. */
export interface CalendarPorts {
  readonly transact: Commits["Service"]["transact"]
  readonly storage: Storage["Service"]
  readonly policy: PolicyInForce["Service"]
  readonly source: PolicySource
  readonly tokens: LinkTokens | undefined
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
