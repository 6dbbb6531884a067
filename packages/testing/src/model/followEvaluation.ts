import { createHash } from "node:crypto"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ListName, ListQuery, ListRows } from "@tocsin/core/lists/ListDefinitions"
import { type Page, readPage } from "@tocsin/core/kernel/engine/lists/readPage"
import { Duration, Effect } from "effect"
import type { Look } from "./EvaluationView.ts"
import type { Replica } from "../Replica.ts"
import { usualQuery } from "../rowsOf.ts"
import { start } from "../samples.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Rows without the number that their storage gave them: it grows, and need not grow by one. */
const withoutSeq = (row: ListRows[ListName]) => {
  if (!("seq" in row)) return row
  const { seq: _seq, ...others } = row
  return others
}

/** The pages that a look meets, as two storages must show them alike; their cursors differ where `seq` does. */
const pagesOf = Effect.fnUntraced(function* <L extends ListName>(
  { storage }: Replica,
  query: ListQuery<L>,
  { pages }: Look,
) {
  const seen: Array<unknown> = []
  let last: Page<ListRows[L]> | undefined
  for (const { limit, back } of pages) {
    const cursor = back ? last?.prev_cursor : last?.next_cursor
    // At its end a walk starts over.
    last = yield* readPage(storage, sha256, query, { limit, back, cursor: cursor ?? undefined })
    seen.push({
      items: last.items.map(withoutSeq),
      hasNext: last.next_cursor !== null,
      hasPrevious: last.prev_cursor !== null,
    })
  }
  return seen
})

const INCIDENT_SORTS = ["status", "opened_at", "resolved_at"] as const
const OUTBOX_SORTS = ["updated_at", "created_at", "updated_at"] as const

const either = <const A, const B>(flag: boolean | undefined, yes: A, no: B): A | B | undefined =>
  flag === undefined ? undefined : flag ? yes : no

/** Looks at a list, page by page. Returns all that it saw. */
export const followEvaluation = (replica: Replica, look: Look) => {
  const agent_id = look.agent && AgentId.make(look.agent)
  const check_id = look.check && CheckId.make(look.check)
  const direction = look.isAscending ? "asc" : "desc"
  switch (look.list) {
    case "audit": {
      const filter = {
        actor: either(look.isFiring, "ann", "library"),
        action: either(look.isOpen, "agent.accepted", "incident.acknowledged"),
        subject: agent_id,
        from: look.sort === 0 ? undefined : Instant.plus(start, Duration.minutes(look.sort)),
        to: look.isAscending ? Instant.plus(start, Duration.hours(2)) : undefined,
      }
      return pagesOf(replica, { list: "audit", filter, sort: "recorded_at", direction }, look)
    }
    case "enrolments":
      return pagesOf(replica, { list: "enrolments", filter: {}, sort: "created_at", direction }, look)
    case "silences":
      return pagesOf(replica, { list: "silences", filter: {}, sort: "created_at", direction }, look)
    case "checks":
      return pagesOf(
        replica,
        { list: "checks", filter: { agent_id }, sort: "agent_id", direction: "asc" },
        look,
      )
    case "overdue":
      return pagesOf(
        replica,
        { list: "overdue", filter: { agent_id }, sort: "agent_id", direction: "asc" },
        look,
      )
    case "history": {
      const filter = { agent_id, check_id }
      return pagesOf(replica, { list: "history", filter, sort: "stored", direction: "desc" }, look)
    }
    case "incidents": {
      const filter = {
        state: either(look.isOpen, "open", "resolved"),
        severity: look.severity,
        agent_id,
        check_id,
      }
      return pagesOf(replica, { list: "incidents", filter, sort: INCIDENT_SORTS[look.sort], direction }, look)
    }
    case "outbox": {
      const event_type = either(look.isFiring, "firing", "resolved")
      const filter = { state: look.outbox, notifier: look.notifier, event_type }
      return pagesOf(replica, { list: "outbox", filter, sort: OUTBOX_SORTS[look.sort], direction }, look)
    }
    default:
      return pagesOf(replica, usualQuery(look.list), look)
  }
}
