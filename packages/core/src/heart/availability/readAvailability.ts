import { operationPorts } from "../usecases/operationPorts.ts"
import { Context, Effect, Layer, Schema } from "effect"
import type { AvailabilityParameters, CheckAvailability } from "@tocsin/contract/availability/Availability"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import { inPieces, phasesOf, type Span, sumPhases } from "./availability.ts"
import { type CheckWithFacts, noFacts, READ_TOGETHER, readFacts, windowsIn, withFacts } from "./readFacts.ts"
import {
  matchingPages,
  type Page,
  type PageParameters,
  readPage,
} from "../../kernel/engine/lists/readPage.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"

/** The longest span, as long as history can be asked for. */
const LONGEST_DAYS = 400n
const DAY = 86_400_000_000n
/** Changes of status in one answer: more take too much of the memory of a small host. */
export const MOST_CHANGES = 200_000

export type AvailabilityQuery = PageParameters & Omit<AvailabilityParameters, keyof PageParameters>

/** A span of at most 400 days that has ended; without a `from`, a day. */
export const spanOf = Effect.fnUntraced(function* (
  { from, to }: { readonly from: Instant.Instant | undefined; readonly to: Instant.Instant | undefined },
  now: Instant.Instant,
): Effect.fn.Return<Span, ValidationError> {
  const end = to ?? now
  const start = from ?? Instant.fromMicros(end - DAY)
  const message =
    end > now
      ? "to must not be in the future"
      : start >= end
        ? "from must be before to"
        : end - start > LONGEST_DAYS * DAY
          ? `from must be at most ${LONGEST_DAYS} days before to`
          : undefined
  if (message !== undefined) return yield* new ValidationError({ message })
  return { from: start, to: end }
})

/** Reads a page of checks with how long each was in each state (docs/rules.md#availability). */
const readAvailability = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  policy: Pick<PolicyInForce["Service"], "current">,
  { checks, from, match = [], phases: withPhases, to, ...paging }: AvailabilityQuery,
): Effect.fn.Return<Page<CheckAvailability>, StorageError | ValidationError> {
  const now = yield* Instant.now
  const span = yield* spanOf({ from, to }, now)
  const page = yield* checksOf(storage, sha256, { checks, match }, paging)
  const known = noFacts()
  const windows = yield* windowsIn(policy.current(), span)
  const items: Array<CheckAvailability> = []
  let room = MOST_CHANGES
  for (const item of page.items) {
    const { agent_id, check_id } = item.check
    const read = yield* readFacts(storage, sha256, item, span, windows, { known, room })
    room -= read.changes.length
    if (room < 0) {
      const message = `the checks of this page changed more than ${MOST_CHANGES} times: choose a later from or a smaller limit`
      return yield* new ValidationError({ message })
    }
    const phases = yield* inPieces(phasesOf(read, span))
    const shown = withPhases ? { phases } : {}
    items.push({ agent_id, check_id, ...sumPhases(phases, span), ...shown })
  }
  return { ...page, items }
})

/** A page of checks that match. Reads no others where the query or its matchers name them. */
export const checksOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  {
    checks,
    match,
  }: { readonly checks: AvailabilityQuery["checks"] | undefined; readonly match: ReadonlyArray<Matcher> },
  paging: PageParameters,
): Effect.fn.Return<Page<CheckWithFacts>, StorageError | ValidationError> {
  const named = <Id>(field: Matcher["field"], is: (value: unknown) => value is Id): Id | undefined => {
    const value = match.find((matcher) => matcher.field === field && matcher.op === "=")?.value
    return is(value) ? value : undefined
  }
  const agent_id = named("agent_id", Schema.is(AgentId))
  const check_id = named("check_id", Schema.is(CheckId))
  const matches = compileMatchers(match)
  const matching = (rows: ReadonlyArray<CheckRecord>) =>
    Effect.map(withFacts(storage, sha256, rows), (all) =>
      all.filter(({ check, facts }) =>
        matches({ ...facts, ...(check.status === "ok" ? {} : { severity: check.status }) }),
      ),
    )
  const names =
    checks ?? (agent_id === undefined || check_id === undefined ? undefined : [{ agent_id, check_id }])
  if (names !== undefined) {
    const read = (name: CheckName) => storage.check(name.agent_id, name.check_id)
    const found = yield* Effect.forEach(names, read, { concurrency: READ_TOGETHER })
    const items = yield* matching(found.filter((check) => check !== undefined))
    return { items, next_cursor: null, prev_cursor: null }
  }
  const query = { list: "checks", filter: { agent_id }, sort: "agent_id", direction: "asc" } as const
  if (match.length === 0) {
    const page = yield* readPage(storage, sha256, query, paging)
    return { ...page, items: yield* withFacts(storage, sha256, page.items) }
  }
  const kept = new Map<CheckRecord, CheckWithFacts>()
  const keep = (found: ReadonlyArray<CheckWithFacts>) =>
    found.map((one) => {
      kept.set(one.check, one)
      return one.check
    })
  const pages = matchingPages<"checks">(storage, (rows) => Effect.map(matching(rows), keep))
  const page = yield* readPage(pages, sha256, query, paging)
  return { ...page, items: page.items.flatMap((check) => kept.get(check) ?? []) }
})

/** Operators' reads of availability (docs/rules.md#availability). */
const availabilityOperations = Effect.map(operationPorts, ({ policy, sha256, storage }) => ({
  /** A page of checks with how long each was in each state. */
  availability: (parameters: AvailabilityQuery) => readAvailability(storage, sha256, policy, parameters),
}))

/** How long checks were in each state (docs/rules.md#availability). */
export class Availability extends Context.Service<Availability>()(
  "@tocsin/core/heart/availability/readAvailability",
  { make: availabilityOperations },
) {
  static readonly layer = Layer.effect(Availability, Availability.make)
}
