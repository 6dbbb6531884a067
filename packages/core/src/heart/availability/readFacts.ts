import { Effect } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compileMatchers } from "@tocsin/contract/labels/Matcher"
import { Severity } from "@tocsin/contract/formats/Status"
import { eachPage, firstRows } from "../../kernel/engine/lists/readPage.ts"
import { spansOf } from "../overdue/listedChecks.ts"
import { overdueRef, ownOverdueRef } from "../overdue/overdueIncident.ts"
import { mergeLabels } from "../firings/loudMembers.ts"
import { type CheckName, findByCheck } from "../../kernel/model/CheckRef.ts"
import { type IncidentChangeRecord, type IncidentRecord, incidentRefOf } from "../model/IncidentRecord.ts"
import { STORY_CHANGES } from "../../kernel/model/timelineCut.ts"
import type { ListName, ListQuery, ListRows } from "../../lists/ListDefinitions.ts"
import { heartbeatRef } from "../deadAgents/heartbeatIncident.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { nextOccurrences } from "../policy/occurrences.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { AvailabilityFacts, Gap, Late, Span } from "./availability.ts"
import type { KnownCheck } from "./knownChecks.ts"

const MOST_OCCURRENCES = 10_000

export const READ_TOGETHER = 8

/** These checks, but for those of deleted agents and of places, with what matchers compare. */
export const withFacts = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  checks: ReadonlyArray<KnownCheck>,
) {
  const labelOf = findByCheck(yield* storage.rows("check_label", checks))
  const ids = Array.from(new Set(checks.map(({ agent_id }) => agent_id)))
  const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const agentOf = new Map(agents.flatMap((agent) => (agent === undefined ? [] : [[agent.agent_id, agent]])))
  return checks.flatMap((check) => {
    const { agent_id, check_id } = check
    const agent = agentOf.get(agent_id)
    if (agent === undefined || check.is_of_place) return []
    const facts = {
      agent_id,
      check_id,
      hostname: agent.hostname,
      incident_key: check.incident_key ?? incidentRefOf(agent_id, check, sha256).incident_key,
      labels: mergeLabels(agent.labels, labelOf(check)?.labels),
    }
    const isListed = agent.listed_as_of !== undefined
    return [{ agent_id, check_id, check, facts, labels: labelOf(check)?.labels, isListed }]
  })
})

export type CheckWithFacts = Effect.Success<ReturnType<typeof withFacts>>[number]

export const windowsIn = Effect.fnUntraced(function* (policy: Policy, span: Span) {
  const windows: Array<{
    readonly name: string
    readonly isCovering: ReturnType<typeof compileMatchers>
    readonly occurrences: ReturnType<typeof nextOccurrences>
  }> = []
  for (const { match, name, ...recurring } of policy.windows) {
    const occurrences = nextOccurrences(recurring, span.from, MOST_OCCURRENCES, span.to)
    windows.push({ name, isCovering: compileMatchers(match), occurrences })
    // A policy may have thousands, each with a hundred occurrences in a quarter.
    yield* Effect.yieldNow
  }
  const frequent = windows.find(({ occurrences }) => occurrences.length === MOST_OCCURRENCES)
  if (frequent === undefined) return windows
  const message = `window ${frequent.name} recurs ${MOST_OCCURRENCES} times in this span: choose a later from`
  return yield* new ValidationError({ message })
})

/** So many rows of a list are read first: most checks change no more often in a day. */
const FEW = 20

/** The rows of a list up to the last one that is wanted. */
const rowsThrough = Effect.fnUntraced(function* <L extends ListName>(
  storage: Storage["Service"],
  query: ListQuery<L>,
  isLast: (row: ListRows[L], place: number) => boolean,
): Effect.fn.Return<ReadonlyArray<ListRows[L]>, StorageError> {
  const few = yield* firstRows(storage, query, FEW)
  const end = few.findIndex(isLast)
  if (end !== -1) return few.slice(0, end + 1)
  if (few.length < FEW) return few
  const all: Array<ListRows[L]> = []
  yield* eachPage(storage, query, (rows) => {
    for (const row of rows) if (isLast(row, all.push(row) - 1)) return false
    return true
  })
  return all
})

/** The changes of a check since the last one before a span, the oldest first. */
const changesOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { agent_id, check_id }: CheckName,
  { from }: Span,
  room: number,
): Effect.fn.Return<AvailabilityFacts["changes"], StorageError> {
  const query = {
    list: "history",
    filter: { agent_id, check_id },
    sort: "stored",
    direction: "desc",
  } as const
  // A result that waited on its agent counts from its own time, but a clock that is ahead does not.
  const momentOf = ({ observed_at, received_at }: ListRows["history"]) =>
    Instant.min(observed_at, received_at)
  const rows = yield* rowsThrough(storage, query, (row, place) => momentOf(row) <= from || place >= room)
  return rows.map((row) => ({ at: momentOf(row), status: row.status })).toReversed()
})

type Changes = ReadonlyArray<IncidentChangeRecord>

/** Rows that several checks of one span share, once they are read. */
export interface SharedFacts {
  readonly deaths: Map<AgentId, ReadonlyArray<Span>>
  readonly changes: Map<IncidentId, Changes>
}
export const noFacts = (): SharedFacts => ({ deaths: new Map(), changes: new Map() })

/** The facts of a check in a span; of its changes, the latest `room` and one more if there are more. */
export const readFacts = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { check, facts, isListed }: Pick<CheckWithFacts, "check" | "facts" | "isListed">,
  span: Span,
  windows: Effect.Success<ReturnType<typeof windowsIn>>,
  { known, room }: { readonly known: SharedFacts; readonly room: number },
): Effect.fn.Return<AvailabilityFacts, StorageError> {
  const changes = yield* changesOf(storage, check, span, room)
  const { late, silent } = yield* gapsOf(storage, sha256, { check, isListed }, span, known)
  const planned = windows.flatMap(({ isCovering, occurrences }) => {
    const covered = Severity.literals.filter((severity) => isCovering({ ...facts, severity }))
    return covered.length === 0
      ? []
      : occurrences.map(({ ends_at, starts_at }) => ({ from: starts_at, to: ends_at, covered }))
  })
  return { changes, silent, late, planned }
})

const byBeginning = (a: Span, b: Span) => (a.from < b.from ? -1 : 1)

/** When nothing was known of a check, and when it was late. */
const gapsOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { check, isListed }: Pick<CheckWithFacts, "check" | "isListed">,
  span: Span,
  known: SharedFacts,
): Effect.fn.Return<Pick<AvailabilityFacts, "late" | "silent">, StorageError> {
  const deaths = yield* deathsOf(storage, check, span, known)
  const { late, silent } = yield* latenessOf(storage, sha256, check, span, known)
  if (isListed) {
    const [listed] = yield* storage.rows("listed_check", [check])
    silent.push(...spansOf(listed, check, span.to).map((each) => ({ ...each, isWithdrawn: true as const })))
  }
  const inTurn = deaths.toSorted(byBeginning)
  for (const [n, { from, to }] of inTurn.entries()) {
    let since = from
    // Its agent is back, maybe since before the span, and the check is not: it has no data unless it is late.
    const isWaiting = check.received_at < to
    const end = isWaiting ? Instant.max(to, inTurn[n + 1]?.from ?? span.to) : to
    const after = isWaiting ? late.filter((each) => each.to > to && each.from < end) : []
    for (const each of after.toSorted(byBeginning)) {
      const until = Instant.max(each.from, to)
      if (since < until) silent.push({ from: since, to: until, isOfAgent: true })
      since = Instant.max(since, each.to)
    }
    if (since < end) silent.push({ from: since, to: end, isOfAgent: true })
  }
  return { silent, late }
})

/** When the agent of a check was dead. */
const deathsOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { agent_id }: CheckName,
  span: Span,
  { deaths }: SharedFacts,
): Effect.fn.Return<ReadonlyArray<Span>, StorageError> {
  const read = deaths.get(agent_id)
  if (read !== undefined) return read
  const { incident_key: key } = heartbeatRef(agent_id)
  const found = (yield* incidentsIn(storage, { agent_id, check_id: HEARTBEAT }, span))
    .filter(({ incident_key, kind }) => kind === "automatic" && incident_key === key)
    .map(({ opened_at, resolved_at = span.to }) => ({ from: opened_at, to: resolved_at }))
  deaths.set(agent_id, found)
  return found
})

/** When a check was late; in earlier versions, it had no data then. */
const latenessOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  check: CheckName,
  span: Span,
  known: SharedFacts,
): Effect.fn.Return<{ late: Array<Late>; silent: Array<Gap> }, StorageError> {
  const { agent_id, check_id } = check
  const late: Array<Late> = []
  const silent: Array<Gap> = []
  const keys = [overdueRef(agent_id), ownOverdueRef(check, sha256)].map((ref) => ref.incident_key)
  for (const { id, incident_key, kind } of yield* incidentsIn(storage, { agent_id, check_id }, span)) {
    if (kind !== "automatic" || !keys.includes(incident_key)) continue
    const changes =
      known.changes.get(id) ??
      (yield* storage.incident(id, { members: 1, changes: STORY_CHANGES, log: 1, outbox: 1 }))?.changes ??
      []
    known.changes.set(id, changes)
    let begun: IncidentChangeRecord | undefined
    let isLate = false
    const end = (to: Instant.Instant) => {
      if (begun === undefined) return
      const { changed_at: from, severity } = begun
      if (isLate) late.push({ from, to, severity })
      else silent.push({ from, to })
    }
    for (const each of changes.toSorted((a, b) => a.seq - b.seq)) {
      if (each.check_id !== check_id || each.agent_id !== agent_id) continue
      if (each.change !== "joined" && !isLate && each.change !== "left") continue
      end(each.changed_at)
      if (each.change === "joined") isLate = each.is_late === true
      begun = each.change === "left" ? undefined : each
    }
    end(span.to)
  }
  return { silent, late }
})

/** The incidents in which a check was a member, and that were open during a span; and the last one before it. */
const incidentsIn = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  filter: CheckName,
  { from, to }: Span,
): Effect.fn.Return<ReadonlyArray<IncidentRecord>, StorageError> {
  const query = { list: "incidents", filter, sort: "resolved_at", direction: "desc" } as const
  const rows = yield* rowsThrough(
    storage,
    query,
    ({ resolved_at }) => resolved_at !== undefined && resolved_at <= from,
  )
  return rows.filter((row) => row.opened_at < to)
})
