import { Effect } from "effect"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import type { Report } from "@tocsin/contract/report/Report"
import type { Span } from "../../heart/availability/availability.ts"
import { READ_TOGETHER } from "../../heart/availability/readFacts.ts"
import { silencedFacts } from "../../heart/firings/loudMembers.ts"
import type { IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import { incidentTitles } from "../../heart/notifications/incidentTitles.ts"
import type { OperationPorts } from "../../heart/usecases/operationPorts.ts"
import { toResolution } from "../../heart/notifications/resolutionText.ts"
import { toIncident } from "../../heart/usecases/shownIncidents.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { IncidentTimeline, Storage, StorageError } from "../../kernel/ports/Storage.ts"

/** As many rows as a page of a list has. */
export const MOST_ROWS = 500
/** Of an incident, the members that matchers compare, and its log. */
const READ = { members: 200, changes: 1, log: 200, outbox: 1 }
/** Newest resolved first, those that are open before them: the list ends with the first one that ended before the span. */
const BY_END = { list: "incidents", filter: {}, sort: "resolved_at", direction: "desc" } as const

type Reported = Report["incidents"][number]

/** Whether a member of an incident matches, by the labels that its check has now. */
const isMatched = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  match: ReadonlyArray<Matcher>,
  { incident, labels, members }: IncidentTimeline,
) {
  const matches = compileMatchers(match)
  const ids = Array.from(new Set(members.map(({ agent_id }) => agent_id)))
  const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const agentOf = new Map(ids.map((id, place) => [id, agents[place]]))
  return members.some((member, place) =>
    matches(silencedFacts(incident, member, agentOf.get(member.agent_id), labels[place])),
  )
})

/** An incident as reports show it; the first acknowledgement counts. */
const toReported = (
  record: IncidentRecord,
  title: string | undefined,
  log: IncidentTimeline["log"],
  now: Instant.Instant,
): Reported => {
  const first = log.filter(({ action }) => action === "acknowledged").toSorted((a, b) => a.seq - b.seq)[0]
  const secondsUntil = (at: Instant.Instant) =>
    Math.max(0, Math.floor(Number(at - record.opened_at) / 1_000_000))
  return {
    ...toIncident(record),
    title: title ?? null,
    resolution: toResolution(record),
    duration_seconds: secondsUntil(record.resolved_at ?? now),
    acknowledged_by: first?.actor ?? null,
    acknowledged_after_seconds: first === undefined ? null : secondsUntil(first.logged_at),
  }
}

interface Wanted {
  readonly record: IncidentRecord
  readonly log?: IncidentTimeline["log"]
}

/** The incidents that were open in a span, the newest first (docs/rules.md#reports). */
export const readIncidents = Effect.fnUntraced(function* (
  { commits, storage }: Pick<OperationPorts, "commits" | "storage">,
  span: Span,
  match: ReadonlyArray<Matcher>,
  now: Instant.Instant,
) {
  let [found, count]: [ReadonlyArray<Wanted>, number] = [[], 0]
  /** An incident that matches; its log is read with its members. */
  const wantedOf = Effect.fnUntraced(function* (
    record: IncidentRecord,
  ): Effect.fn.Return<ReadonlyArray<Wanted>, StorageError> {
    if (match.length === 0) return [{ record }]
    const timeline = yield* storage.incident(record.id, READ)
    if (timeline === undefined || !(yield* isMatched(storage, match, timeline))) return []
    return [{ record, log: timeline.log }]
  })
  yield* eachPage(
    storage,
    BY_END,
    Effect.fnUntraced(function* (rows) {
      const end = rows.findIndex(({ resolved_at }) => resolved_at !== undefined && resolved_at <= span.from)
      const open = (end === -1 ? rows : rows.slice(0, end)).filter(({ opened_at }) => opened_at < span.to)
      const wanted = (yield* Effect.forEach(open, wantedOf, { concurrency: READ_TOGETHER })).flat()
      count += wanted.length
      found = [...found, ...wanted]
        .toSorted(({ record: a }, { record: b }) =>
          a.opened_at < b.opened_at ? 1 : a.opened_at > b.opened_at ? -1 : a.id < b.id ? 1 : -1,
        )
        .slice(0, MOST_ROWS)
      return end === -1
    }),
  )
  const titles = yield* incidentTitles(storage, commits.transact)(found.map(({ record }) => record))
  const readLog = ({ id, log_entries }: IncidentRecord) =>
    log_entries === 0
      ? Effect.succeed([])
      : Effect.map(storage.incident(id, { ...READ, members: 1 }), (timeline) => timeline?.log ?? [])
  const incidents = yield* Effect.forEach(
    found,
    ({ log, record }) =>
      Effect.map(log === undefined ? readLog(record) : Effect.succeed(log), (entries) =>
        toReported(record, titles.get(record.id), entries, now),
      ),
    { concurrency: READ_TOGETHER },
  )
  return { incidents, leftOut: count - found.length }
})
