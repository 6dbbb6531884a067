import { Effect, Option, Stream } from "effect"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import { mergeLabels } from "../../heart/firings/loudMembers.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { declaredLabels, titleOf } from "../../heart/model/titles.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { incidentRefOf } from "../../heart/model/IncidentRecord.ts"
import { ALL_AGENTS, ALL_CHECKS, eachPage, firstRows } from "../../kernel/engine/lists/readPage.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { orderColumns, type Position } from "../../kernel/model/ListDefinitions.ts"
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

/** Checks that are read together, between which requests are answered. */
const PIECE = 500
const OVERDUE = { list: "overdue", filter: {}, sort: "agent_id", direction: "asc" } as const
const LABELLED = { list: "labelled", filter: {}, sort: "agent_id", direction: "asc" } as const

/** Labels as matchers compare them, and as senders gave them: the same but for titles. */
interface Compared {
  readonly labels: Labels | undefined
  readonly declared: Labels | undefined
}

/** Agents, late checks and labels of checks, which are fewer or smaller than checks. */
const readBeside = Effect.fnUntraced(function* (storage: Storage["Service"]) {
  const agents = new Map<AgentId, Compared & Pick<AgentRecord, "hostname">>()
  const late = new Map<string, CheckRef>()
  const labelsOf = new Map<string, Compared>()
  yield* eachPage(storage, ALL_AGENTS, (rows) => {
    for (const row of rows)
      agents.set(row.agent_id, { hostname: row.hostname, labels: row.labels, declared: declaredLabels(row) })
  })
  yield* eachPage(storage, OVERDUE, (rows) => {
    for (const { agent_id, check_id, registration_id } of rows)
      late.set(`${agent_id}/${check_id}`, { agent_id, check_id, registration_id })
  })
  yield* eachPage(storage, LABELLED, (rows) => {
    for (const row of rows)
      labelsOf.set(`${row.agent_id}/${row.check_id}`, { labels: row.labels, declared: declaredLabels(row) })
  })
  return { agents, late, labelsOf }
})

type Beside = Effect.Success<ReturnType<typeof readBeside>>

/** Makes the metrics of checks that matchers leave; of a late one, no more than once. */
const metricsWith = (
  { agents, labelsOf, late }: Beside,
  match: ReadonlyArray<Matcher>,
  sha256: (text: string) => string,
) => {
  const fits = match.length === 0 ? undefined : compileMatchers(match)
  const asksForKey = match.some(({ field }) => field === "incident_key")
  const keyOf = ({ agent_id, check_id }: CheckRef) =>
    incidentRefOf(agent_id, { check_id }, sha256).incident_key
  return (ref: CheckRef, check: CheckRecord | undefined): CheckMetric | undefined => {
    const { agent_id, check_id } = ref
    const name = late.size + labelsOf.size === 0 ? "" : `${agent_id}/${check_id}`
    const own = labelsOf.get(name)
    const agent = agents.get(agent_id)
    const isLate = late.delete(name)
    const isLeft = fits?.({
      agent_id,
      check_id,
      labels: mergeLabels(agent?.labels, own?.labels),
      ...(agent !== undefined && { hostname: agent.hostname }),
      ...(asksForKey && { incident_key: check?.incident_key ?? keyOf(ref) }),
    })
    if (isLeft === false) return undefined
    // Of the row, which has an output of some kilobytes, only these stay in memory.
    const last = check && {
      status: check.status,
      received_at: check.received_at,
      measured_at: Instant.min(check.last_observed_at, check.received_at),
    }
    const labels = mergeLabels(agent?.declared, own?.declared)
    return { ref, title: titleOf(own?.labels) ?? "", labels, isLate, last }
  }
}

/** Reads all checks as metrics state them, in pieces in the order of their names. Fails where nothing can be read. */
export const readingCheckMetrics = (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  numbers: LastNumbers,
) =>
  Effect.fnUntraced(function* (match: ReadonlyArray<Matcher>) {
    yield* numbers.begin
    const beside = yield* readBeside(storage)
    const metricOf = metricsWith(beside, match, sha256)
    const ofRows = (rows: ReadonlyArray<CheckRecord>): ReadonlyArray<CheckMetric> => {
      const found: Array<CheckMetric> = []
      for (const row of rows) {
        const { agent_id, check_id, registration_id, withdrawn_at } = row
        if (withdrawn_at !== undefined) continue
        const metric = metricOf({ agent_id, check_id, registration_id }, row)
        if (metric !== undefined) found.push(metric)
      }
      return found
    }
    const piecesOf = Stream.paginate(
      undefined as Position | undefined,
      Effect.fnUntraced(function* (from) {
        const rows = yield* from === undefined
          ? firstRows(storage, ALL_CHECKS, PIECE)
          : storage.page({ ...ALL_CHECKS, from, isBackward: false, limit: PIECE })
        const found = ofRows(rows)
        const end = rows.length < PIECE ? undefined : rows.at(-1)
        yield* Effect.yieldNow
        const next = end && {
          values: orderColumns("checks", ALL_CHECKS.sort).map((column) => column.of(end)),
          isInclusive: false,
        }
        return [[found], Option.fromUndefinedOr(next)] as const
      }),
    )
    // A late check that is left has never reported.
    const others = Stream.sync(() =>
      Array.from(beside.late.values()).flatMap((ref) => metricOf(ref, undefined) ?? []),
    )
    const checks: Stream.Stream<ReadonlyArray<CheckMetric>, StorageError> = Stream.concat(piecesOf, others)
    return {
      checks,
      /** The numbers of a check; none of a late one, whose are old. */
      numbersOf: ({ isLate, last, ref }: CheckMetric): ReturnType<LastNumbers["of"]> =>
        isLate || last === undefined ? [] : numbers.of(ref, last.measured_at),
    }
  })
