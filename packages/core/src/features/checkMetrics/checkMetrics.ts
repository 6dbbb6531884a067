import { Effect, Option, Stream } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import { mergeLabels } from "../../heart/firings/loudMembers.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { declaredLabels, titleOf } from "../../heart/model/titles.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { incidentRefOf } from "../../heart/model/IncidentRecord.ts"
import { ALL_AGENTS, ALL_CHECKS, firstRows } from "../../kernel/engine/lists/readPage.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { type ListQuery, type ListRows, type Position } from "../../lists/ListDefinitions.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"

/** The last result of a check. `measured_at` is its own time: it may have waited on its agent. */
interface LastResult {
  readonly status: CheckStatus
  readonly received_at: Instant.Instant
  readonly measured_at: Instant.Instant
}

/** A check as metrics state it (docs/rules.md#metrics-of-checks). */
export interface CheckMetric {
  readonly ref: CheckRef
  /** Empty without one. */
  readonly title: string
  /** Those that senders gave, of its agent too. */
  readonly labels: Labels
  readonly isLate: boolean
  /** Absent for one that is late and never reported. */
  readonly last: LastResult | undefined
}

/** The last value of a series of a check, in its unit. */
export interface CheckNumber {
  readonly name: string
  readonly unit: string
  readonly value: number
}

/** Where the last values of checks come from. */
interface LastNumbers {
  readonly begin: Effect.Effect<void, StorageError>
  readonly of: (
    check: CheckRef,
    measuredAt: Instant.Instant,
  ) => ReadonlyArray<CheckNumber> | Effect.Effect<ReadonlyArray<CheckNumber>, StorageError>
}

/** Checks that are read together, between which requests are answered: with the longest outputs, two megabytes. */
const PIECE = 250
const OVERDUE = { list: "overdue", filter: {}, sort: "agent_id", direction: "asc" } as const
const LABELLED = { list: "labelled", filter: {}, sort: "agent_id", direction: "asc" } as const

/** In the order of these, lists by name are read. A space is before all characters of IDs. */
const nameOf = ({ agent_id, check_id }: Pick<CheckRef, "agent_id" | "check_id">): string =>
  `${agent_id} ${check_id}`

/** The rows of a list in the order of their names, of which a piece is in memory. */
const rowsInOrder = <L extends "agents" | "checks" | "labelled" | "overdue">(
  storage: Storage["Service"],
  query: ListQuery<L>,
  { name, start }: { readonly name: (row: ListRows[L]) => string; readonly start: Position | undefined },
) => {
  let rows: ReadonlyArray<ListRows[L]> = []
  let at = 0
  let from = start
  let isEnd = false
  const read = Effect.gen(function* () {
    rows = yield* storage.page({ ...query, from, isBackward: false, limit: PIECE })
    at = 0
    isEnd = rows.length < PIECE
    const last = rows.at(-1)
    from = last && {
      values: storage.orderOf(query.list, query.sort).map(({ of }) => of(last)),
      isInclusive: false,
    }
    yield* Effect.yieldNow
  })
  /** The first row that is left; undefined at the end. */
  function* first() {
    if (at === rows.length && !isEnd) yield* read
    return rows[at]
  }
  return {
    first,
    skip: (): void => void (at += 1),
    /** The row of this name; those before it leave. */
    *named(wanted: string) {
      for (;;) {
        const row = yield* first()
        if (row === undefined || name(row) > wanted) return undefined
        if (name(row) === wanted) return row
        at += 1
      }
    },
  }
}

/** Decides whether matchers leave a check, by all of its labels. */
const fitting = (match: ReadonlyArray<Matcher>, sha256: (text: string) => string) => {
  if (match.length === 0) return () => true
  const fits = compileMatchers(match)
  const asksForKey = match.some(({ field }) => field === "incident_key")
  return (
    { agent_id, check_id }: CheckRef,
    labels: Labels,
    agent: AgentRecord | undefined,
    check: CheckRecord | undefined,
  ): boolean =>
    fits({
      agent_id,
      check_id,
      labels,
      ...(agent !== undefined && { hostname: agent.hostname }),
      ...(asksForKey && {
        incident_key: check?.incident_key ?? incidentRefOf(agent_id, { check_id }, sha256).incident_key,
      }),
    })
}

/** Reads the metrics of checks behind one. Of checks, late ones, labels and agents, a piece each is in memory. */
const metricsInOrder = (
  storage: Storage["Service"],
  fits: ReturnType<typeof fitting>,
  after: CheckRef | undefined,
) => {
  const start = after && { values: [after.agent_id, after.check_id], isInclusive: false }
  const checks = rowsInOrder(storage, ALL_CHECKS, { name: nameOf, start })
  const overdue = rowsInOrder(storage, OVERDUE, { name: nameOf, start })
  const labelled = rowsInOrder(storage, LABELLED, { name: nameOf, start })
  const agents = rowsInOrder(storage, ALL_AGENTS, {
    name: ({ agent_id }) => agent_id,
    start: after && { values: [after.agent_id], isInclusive: true },
  })
  /** The next metric; none of a check that was withdrawn, or that matchers leave out; undefined at the end. */
  function* next() {
    const check = yield* checks.first()
    const late = yield* overdue.first()
    if (check === undefined && late === undefined) return undefined
    const isChecks =
      check !== undefined && (late === undefined || nameOf(check) <= nameOf(late)) ? check : undefined
    const isLate = late !== undefined && (isChecks === undefined || nameOf(late) === nameOf(isChecks))
    if (isChecks !== undefined) checks.skip()
    if (isLate) overdue.skip()
    const row = isChecks ?? late
    if (row === undefined || isChecks?.withdrawn_at !== undefined) return "none"
    const { agent_id, check_id, registration_id } = row
    const ref = { agent_id, check_id, registration_id }
    const own = yield* labelled.named(nameOf(ref))
    const agent = yield* agents.named(agent_id)
    if (!fits(ref, mergeLabels(agent?.labels, own?.labels), agent, isChecks)) return "none"
    // Of the row, which has an output of some kilobytes, only these stay in memory.
    const last = isChecks && {
      status: isChecks.status,
      received_at: isChecks.received_at,
      measured_at: Instant.min(isChecks.last_observed_at, isChecks.received_at),
    }
    const labels = mergeLabels(agent && declaredLabels(agent), own && declaredLabels(own))
    return { ref, title: titleOf(own?.labels) ?? "", labels, isLate, last }
  }
  return Effect.gen(function* () {
    const found: Array<CheckMetric> = []
    for (let left = PIECE; left > 0; left -= 1) {
      const metric = yield* next()
      if (metric === undefined) return [[found], Option.none()] as const
      if (metric !== "none") found.push(metric)
    }
    return [[found], Option.some(undefined)] as const
  })
}

/** Reads all checks as metrics state them, in pieces in the order of their names. Fails where nothing can be read. */
export const readingCheckMetrics = (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  numbers: LastNumbers,
) =>
  Effect.fnUntraced(function* (match: ReadonlyArray<Matcher>) {
    yield* numbers.begin
    yield* firstRows(storage, ALL_CHECKS, 1)
    const fits = fitting(match, sha256)
    return {
      /** Those behind a check, else all. */
      checks: (after?: CheckRef): Stream.Stream<ReadonlyArray<CheckMetric>, StorageError> =>
        Stream.suspend(() => {
          const piece = metricsInOrder(storage, fits, after)
          return Stream.paginate(undefined, () => piece)
        }),
      /** The numbers of a check; none of a late one, whose are old. */
      numbersOf: ({ isLate, last, ref }: CheckMetric): ReturnType<LastNumbers["of"]> =>
        isLate || last === undefined ? [] : numbers.of(ref, last.measured_at),
    }
  })
