import * as Instant from "@tocsin/contract/Instant"
import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type { NotifierName } from "@tocsin/contract/Status"
import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import { hasWords, searchedOf } from "../engine/lists/searchWords.ts"
import { matchingPages, pagesAt, readPage } from "../engine/lists/readPage.ts"
import { compileMatchers } from "@tocsin/contract/Matcher"
import { isOfAgent } from "../policy/compilePolicy.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import { canBeHeld } from "../firings/Hold.ts"
import { MOST_EVALUATED, piecesOf, silencedFacts } from "../firings/loudMembers.ts"
import {
  heldIncidents,
  heldItems,
  readFirings,
  readIncidents,
  readOutlook,
  type HeldBy,
} from "../firings/readHolds.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import type { Hashing } from "../ports/Hashing.ts"
import type { IncidentTimeline, Storage } from "../ports/Storage.ts"
import type { Receivers } from "../notifications/Receivers.ts"
import { whyNotServed } from "../notifications/explainNotification.ts"
import { servedReceivers } from "../replicas/listedReceivers.ts"
import type { Sorted } from "./Queries.ts"
import { type CoveringSilence, toHeldIncident, toHeldOutboxItem, toNotifiedReceiver } from "./toResources.ts"

interface Sources {
  readonly receivers: Pick<Receivers["Service"], "current">
  readonly storage: Storage["Service"]
  readonly commits: Pick<Commits["Service"], "transact">
  readonly sha256: Hashing["Service"]["sha256"]
  readonly options: FiringOptions
}

export interface IncidentView {
  readonly search?: string | undefined
  readonly with_receivers?: boolean
}

const foundIncidents = (all: ReturnType<typeof pagesAt>, search: string | undefined) =>
  search === undefined
    ? all
    : matchingPages<"incidents">(all, (rows) =>
        Effect.succeed(rows.filter((row) => hasWords(search, `${row.incident_key} ${searchedOf(row)}`))),
      )

const foundItems = (all: Pick<Storage["Service"], "page">, receiver: NotifierName | undefined) =>
  receiver === undefined
    ? all
    : matchingPages<"outbox">(all, (rows) => Effect.succeed(rows.filter((row) => row.receiver === receiver)))

/** Reads the holds of rows, in transactions of bounded pieces. */
const holdReads = ({ commits: { transact }, options }: Sources) => {
  const holdsOfIncidents = Effect.fnUntraced(function* (incidents: ReadonlyArray<IncidentRecord>) {
    const open = incidents.filter(({ state }) => state === "open")
    const held = yield* Effect.forEach(piecesOf(open, MOST_EVALUATED), (piece) =>
      transact(
        heldIncidents(
          piece.map(({ id }) => id),
          options,
        ),
      ),
    )
    return new Map(held.flatMap((piece) => Array.from(piece)))
  })
  const holdsOfItems = Effect.fnUntraced(function* (items: ReadonlyArray<OutboxRecord>) {
    const found = new Map<OutboxId, HeldBy>()
    for (let left = items.filter(canBeHeld); left.length > 0;) {
      const { held, rest } = yield* transact(heldItems(left, options))
      for (const [id, by] of held) found.set(id, by)
      left = rest.slice()
    }
    return found
  })
  /** The receivers of incidents. An incident that is held holds its firings, so only the others are examined. */
  const receiversOf = Effect.fnUntraced(function* (
    ids: ReadonlyArray<IncidentId>,
    held: ReadonlySet<IncidentId>,
  ) {
    const firings = yield* transact(readFirings(ids))
    const holds = yield* holdsOfItems(firings.filter(({ incident_id }) => !held.has(incident_id)))
    return Map.groupBy(
      firings.map((item) => ({ ...item, held_by: holds.get(item.id)?.held_by ?? [] })),
      ({ incident_id }) => incident_id,
    )
  })
  return { holdsOfIncidents, holdsOfItems, receiversOf }
}

/** The lists of v1 with what holds each row, and the holds of one timeline (docs/rules.md#release). */
export const heldLists = (sources: Sources) => {
  const {
    commits: { transact },
    options,
    receivers: { current },
    sha256,
    storage,
  } = sources
  const { holdsOfIncidents, holdsOfItems, receiversOf } = holdReads(sources)
  return {
    incidents: Effect.fn("Operations.incidents")(function* (parameters: Sorted<"incidents"> & IncidentView) {
      const {
        search,
        with_receivers = false,
        sort: order,
        direction,
        cursor,
        back,
        limit,
        ...filter
      } = parameters
      // Between two times, rows come in the order of time, which an index has.
      const sort = order === "status" && (filter.from ?? filter.to) !== undefined ? "opened_at" : order
      const now = yield* Instant.now
      const query = { list: "incidents", filter, sort, direction } as const
      const found = foundIncidents(pagesAt(storage, now), search)
      const page = yield* readPage(found, sha256, query, { cursor, back, limit })
      const held = yield* holdsOfIncidents(page.items)
      const ids = page.items.map(({ id }) => id)
      const receivers = with_receivers ? yield* receiversOf(ids, new Set(held.keys())) : undefined
      const items = page.items.map((row) => ({
        ...toHeldIncident(row, held.get(row.id), now),
        ...(receivers !== undefined && { receivers: (receivers.get(row.id) ?? []).map(toNotifiedReceiver) }),
      }))
      return { ...page, items }
    }),
    outbox: Effect.fn("Operations.outbox")(function* (
      parameters: Sorted<"outbox"> & { readonly receiver?: NotifierName | undefined },
    ) {
      const { sort, direction, state, notifier, receiver, event_type, held: isHeld, ...paging } = parameters
      const filter = { state, notifier, event_type, held: isHeld }
      const found = foundItems(storage, receiver)
      const page = yield* readPage(found, sha256, { list: "outbox", filter, sort, direction }, paging)
      const ids = page.items.map(({ incident_id }) => incident_id)
      const incidents = yield* transact(readIncidents(ids))
      const held = yield* holdsOfItems(page.items)
      const incidentOf = new Map(incidents.map((incident) => [incident.id, incident]))
      const served = servedReceivers(current(), yield* storage.replicas, yield* Instant.now)
      const items = page.items.flatMap((row) => {
        const incident = incidentOf.get(row.incident_id)
        // One that retention removed meanwhile has gone with its incident.
        if (incident === undefined) return []
        const why = whyNotServed(row, { held: held.get(row.id), served })
        return [{ ...toHeldOutboxItem(row, held.get(row.id), incident), ...(why !== undefined && { why }) }]
      })
      return { ...page, items }
    }),
    /** A timeline with what holds its firings now, and whom it notifies next. */
    withOutlook: Effect.fnUntraced(function* (timeline: IncidentTimeline) {
      const outlook = yield* transact(readOutlook(timeline, options))
      return {
        ...timeline,
        ...outlook,
        silences: yield* coveringSilences(storage, timeline, outlook.silences),
      }
    }),
  }
}

const READ_TOGETHER = 8
/** After so many silences, compared with up to 200 members, other requests have their turn. */
const COMPARED_TOGETHER = 100

/** Of these silences, those that matched a member of an incident at a severity that it had. */
const coveringSilences = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { changes, incident, labels, members }: IncidentTimeline,
  silences: ReadonlyArray<SilenceRecord>,
) {
  const ids = silences.some(({ matchers }) => matchers.some(isOfAgent))
    ? Array.from(new Set(members.map(({ agent_id }) => agent_id)))
    : []
  const read = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const agents = new Map(ids.map((id, place) => [id, read[place]]))
  const had = new Set([incident.severity, ...changes.flatMap((change) => change.incident_severity ?? [])])
  const facts = members.map((member, place) =>
    Array.from(had, (severity) =>
      silencedFacts({ ...incident, severity }, member, agents.get(member.agent_id), labels[place]),
    ),
  )
  const covering: Array<CoveringSilence> = []
  for (const [place, silence] of silences.entries()) {
    if (place % COMPARED_TOGETHER === COMPARED_TOGETHER - 1) yield* Effect.yieldNow
    // Without matchers its row is damaged: an empty list would match everything.
    if (silence.matchers.length === 0) continue
    const matches = compileMatchers(silence.matchers)
    const covered = facts.filter((some) => some.some(matches)).length
    if (covered > 0) covering.push({ silence, covers_all: covered === members.length })
  }
  return covering.toSorted((a, b) => (a.silence.id < b.silence.id ? 1 : -1))
})
