import { operationPorts } from "../usecases/operationPorts.ts"
import { Context, Effect, Layer, Schema } from "effect"
import type { AvailabilityParameters, CheckAvailability } from "@tocsin/contract/availability/Availability"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import { inPieces, phasesOf, type Span, sumPhases } from "./availability.ts"
import { findKnown, type KnownCheck, knownChecks } from "./knownChecks.ts"
import { type CheckWithFacts, noFacts, READ_TOGETHER, readFacts, windowsIn, withFacts } from "./readFacts.ts"
import {
  matchingPages,
  type Page,
  type PageParameters,
  readPageOf,
} from "../../kernel/engine/lists/readPage.ts"
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
    const { agent_id, check_id } = item
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

/** The checks of these names that are known, in their order. */
const readNamed = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  names: ReadonlyArray<CheckName>,
): Effect.fn.Return<ReadonlyArray<KnownCheck>, StorageError> {
  const ids = Array.from(new Set(names.map(({ agent_id }) => agent_id)))
  const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const refs = names.flatMap(({ agent_id, check_id }) => {
    const agent = agents.find((one) => one?.agent_id === agent_id)
    return agent === undefined ? [] : [{ agent_id, check_id, registration_id: agent.registration_id }]
  })
  const knownOf = yield* findKnown(storage, refs)
  return refs.flatMap((ref) => knownOf(ref) ?? [])
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
  const matching = (rows: ReadonlyArray<KnownCheck>) =>
    Effect.map(withFacts(storage, sha256, rows), (all) =>
      all.filter(({ check: { status = "ok" }, facts }) =>
        matches({ ...facts, ...(status === "ok" ? {} : { severity: status }) }),
      ),
    )
  const names =
    checks ?? (agent_id === undefined || check_id === undefined ? undefined : [{ agent_id, check_id }])
  if (names !== undefined) {
    const items = yield* matching(yield* readNamed(storage, names))
    return { items, next_cursor: null, prev_cursor: null }
  }
  const query = { list: "checks", filter: { agent_id }, sort: "agent_id", direction: "asc" } as const
  const known = knownChecks(storage)
  if (match.length > 0) return yield* readPageOf(matchingPages(known, matching), sha256, query, paging)
  const page = yield* readPageOf(known, sha256, query, paging)
  return { ...page, items: yield* withFacts(storage, sha256, page.items) }
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
