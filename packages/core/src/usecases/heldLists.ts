import * as Instant from "@tocsin/contract/Instant"
import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import { pagesAt, readPage } from "../engine/lists/readPage.ts"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import { heldIncidents, heldItems } from "../firings/readHolds.ts"
import type { Hashing } from "../ports/Hashing.ts"
import type { IncidentTimeline, Storage } from "../ports/Storage.ts"
import type { Sorted } from "./Queries.ts"
import { toHeldIncident, toHeldOutboxItem } from "./toResources.ts"

/** The sources of {@link heldLists}. */
interface Sources {
  readonly storage: Storage["Service"]
  readonly commits: Pick<Commits["Service"], "transact">
  readonly sha256: Hashing["Service"]["sha256"]
  readonly options: FiringOptions
}

/** The lists of v1 with what holds each row, and the holds of one timeline (docs/rules.md#release). */
export const heldLists = ({ commits: { transact }, options, sha256, storage }: Sources) => ({
  incidents: Effect.fn("Operations.incidents")(function* (parameters: Sorted<"incidents">) {
    const { sort, direction, state, severity, agent_id, check_id, acknowledged, ...paging } = parameters
    const filter = { state, severity, agent_id, check_id, acknowledged }
    const now = yield* Instant.now
    const query = { list: "incidents", filter, sort, direction } as const
    const page = yield* readPage(pagesAt(storage, now), sha256, query, paging)
    const open = page.items.filter((row) => row.state === "open").map(({ id }) => id)
    const held = yield* transact(heldIncidents(open, options))
    return { ...page, items: page.items.map((row) => toHeldIncident(row, held.get(row.id), now)) }
  }),
  outbox: Effect.fn("Operations.outbox")(function* (parameters: Sorted<"outbox">) {
    const { sort, direction, state, notifier, event_type, held: isHeld, ...paging } = parameters
    const filter = { state, notifier, event_type, held: isHeld }
    const page = yield* readPage(storage, sha256, { list: "outbox", filter, sort, direction }, paging)
    const held = yield* transact(heldItems(page.items, options))
    return { ...page, items: page.items.map((row) => toHeldOutboxItem(row, held.get(row.id))) }
  }),
  /** A timeline with what holds its firings now. */
  withHolds: Effect.fnUntraced(function* (timeline: IncidentTimeline) {
    const { incident, outbox } = timeline
    const open = incident.state === "open" ? [incident.id] : []
    const incidents = yield* transact(heldIncidents(open, options))
    return {
      ...timeline,
      held: incidents.get(incident.id),
      heldItems: yield* transact(heldItems(outbox, options)),
      now: yield* Instant.now,
    }
  }),
})
