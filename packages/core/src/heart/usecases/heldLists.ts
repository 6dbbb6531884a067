import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Effect } from "effect"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { noSuch } from "../../kernel/engine/OperationErrors.ts"
import { hasWords, searchedOf } from "../../kernel/engine/lists/searchWords.ts"
import { type ListReads, matchingPages, pagesAt, readPage } from "../../kernel/engine/lists/readPage.ts"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import { mayBeHeld } from "../firings/Hold.ts"
import { EVALUATED_TOGETHER, piecesOf } from "../firings/loudMembers.ts"
import {
  heldIncidents,
  heldItems,
  readFirings,
  readIncidents,
  readOutlook,
  type HeldBy,
} from "../firings/readHolds.ts"
import { incidentTitles, memberTitlesOf } from "../notifications/incidentTitles.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { STORY_CHANGES } from "../../kernel/model/timelineCut.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import type { Receivers } from "../notifications/Receivers.ts"
import { whyNotServed } from "../notifications/explainNotification.ts"
import { servedReceivers } from "../replicas/listedReceivers.ts"
import type { Sorted } from "../../kernel/engine/lists/listReaders.ts"
import { coveringSilences, toHeldIncident, toHeldOutboxItem, toNotifiedReceiver } from "./shownIncidents.ts"

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

const foundIncidents = (
  all: ReturnType<typeof pagesAt>,
  search: string | undefined,
  titlesOf: ReturnType<typeof incidentTitles>,
) =>
  search === undefined
    ? all
    : matchingPages<"incidents">(all, (rows) =>
        Effect.map(titlesOf(rows), (titles) =>
          rows.filter((row) =>
            hasWords(search, `${row.incident_key} ${searchedOf({ ...row, title: titles.get(row.id) })}`),
          ),
        ),
      )

const foundItems = (all: ListReads, receiver: NotifierName | undefined) =>
  receiver === undefined
    ? all
    : matchingPages<"outbox">(all, (rows) => Effect.succeed(rows.filter((row) => row.receiver === receiver)))

/** Reads the holds of rows, in transactions of bounded pieces. */
const holdReads = ({ commits: { transact }, options, storage }: Sources) => {
  const titlesOf = incidentTitles(storage, transact)
  const holdsOfIncidents = Effect.fnUntraced(function* (incidents: ReadonlyArray<IncidentRecord>) {
    const open = incidents.filter(({ state }) => state === "open")
    const held = yield* Effect.forEach(piecesOf(open, EVALUATED_TOGETHER), (piece) =>
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
    for (let left = items.filter(mayBeHeld); left.length > 0;) {
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
  /** Incidents with their titles and what withholds their firings, in the order of the rows. */
  const shownIncidents = Effect.fnUntraced(function* (rows: ReadonlyArray<IncidentRecord>) {
    const now = yield* Instant.now
    const held = yield* holdsOfIncidents(rows)
    const titles = yield* titlesOf(rows)
    return rows.map((row) => toHeldIncident(row, held.get(row.id), titles.get(row.id), now))
  })
  return { holdsOfItems, receiversOf, shownIncidents, titlesOf }
}

// An incident can have ten thousand members; its page shows the worst of them, and all stored
// changes. Who comes next depends on more notifications than it shows.
const STORY = { members: 200, changes: STORY_CHANGES, log: 200, outbox: 10_000 }

/** The lists of v1 with what holds each row, and one timeline with its holds (docs/rules.md#release). */
export const heldLists = (sources: Sources) => {
  const {
    commits: { transact },
    options,
    receivers: { current },
    sha256,
    storage,
  } = sources
  const { holdsOfItems, receiversOf, shownIncidents, titlesOf } = holdReads(sources)
  return {
    heldIncidents: shownIncidents,
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
      const found = foundIncidents(pagesAt(storage, now), search, titlesOf)
      const page = yield* readPage(found, sha256, query, { cursor, back, limit })
      const shown = yield* shownIncidents(page.items)
      const ids = page.items.map(({ id }) => id)
      const held = new Set(shown.filter(({ held_by }) => held_by.length > 0).map(({ id }) => id))
      const receivers = with_receivers ? yield* receiversOf(ids, held) : undefined
      const items = shown.map((one) => ({
        ...one,
        ...(receivers !== undefined && { receivers: (receivers.get(one.id) ?? []).map(toNotifiedReceiver) }),
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
      const incidents = yield* transact(readIncidents(page.items.map(({ incident_id }) => incident_id)))
      const titles = yield* titlesOf(incidents)
      const held = yield* holdsOfItems(page.items)
      const incidentOf = new Map(incidents.map((incident) => [incident.id, incident]))
      const served = servedReceivers(current(), yield* storage.replicas, yield* Instant.now)
      const items = page.items.flatMap((row) => {
        const incident = incidentOf.get(row.incident_id)
        // One that retention removed meanwhile has gone with its incident.
        if (incident === undefined) return []
        const why = whyNotServed(row, { held: held.get(row.id), served })
        const shown = toHeldOutboxItem(row, held.get(row.id), incident, titles.get(incident.id))
        return [{ ...shown, ...(why !== undefined && { why }) }]
      })
      return { ...page, items }
    }),
    /** One incident with its worst members, latest changes and notifications, at most 200 of each. */
    incident: Effect.fn("Operations.incident")(function* (id: IncidentId) {
      const timeline = yield* storage.incident(id, STORY)
      if (timeline === undefined) return yield* noSuch("incident")
      const outlook = yield* transact(readOutlook(timeline, options))
      const silences = yield* coveringSilences(storage, timeline, outlook.silences)
      const served = servedReceivers(current(), yield* storage.replicas, yield* Instant.now)
      const title = (yield* titlesOf([timeline.incident])).get(id)
      const memberTitles = yield* memberTitlesOf(storage, timeline)
      return { ...timeline, ...outlook, silences, served, title, memberTitles }
    }),
  }
}
