import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { WithIncident } from "../engine/workspace/Found.ts"
import type { RowRequest } from "../engine/workspace/RowRequest.ts"
import type { Workspace, WorkspaceChanges } from "../engine/workspace/Workspace.ts"
import { isHeld } from "../holds/heldItems.ts"
import type { MemoryTables } from "../memory/MemoryTables.ts"
import { loadRows } from "../memory/loadRows.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { Agenda } from "../memory/Agenda.ts"
import { KeyOpenings } from "./KeyOpenings.ts"

const NONE: ReadonlyArray<never> = []

/**
 * What of a simulated service becomes due when. It answers the searches for due rows, so that none
 * of them reads every row.
 */
export class DueWork {
  readonly #tables: MemoryTables
  readonly #waiting = new Set<OutboxId>()
  readonly #held = new Agenda<OutboxId>()
  readonly #looks = new Agenda<IncidentId>()
  readonly #openings: KeyOpenings | undefined

  constructor(tables: MemoryTables, { flapping }: Pick<Policy, "flapping">) {
    this.#tables = tables
    this.#openings = flapping && new KeyOpenings(flapping.within)
  }

  /** The notifications that can be claimed, with their incidents. */
  get claimable(): ReadonlyArray<WithIncident<OutboxRecord>> {
    if (this.#waiting.size === 0) return NONE
    const { incidents, outbox } = this.#tables
    return Array.from(this.#waiting).flatMap((id) => {
      const row = outbox.get(id)
      const incident = row && incidents.get(row.incident_id)
      return row === undefined || incident === undefined ? [] : [{ row, incident }]
    })
  }

  /** When the next held firing is to be examined. */
  get nextExamination(): Instant | undefined {
    return this.#held.next
  }

  /** When the timers of an incident are to be looked at next. */
  get nextLook(): Instant | undefined {
    return this.#looks.next
  }

  /** Takes the changes of a command. */
  note({ incidents, outbox }: Pick<WorkspaceChanges, "incidents" | "outbox">): void {
    for (const { after, before } of incidents) {
      if (after === undefined) continue
      if (before === undefined) this.#openings?.note(after)
      this.#looks.set(after.id, after.state === "open" ? after.next_look_at : undefined)
    }
    for (const { after } of outbox) if (after !== undefined) this.noteItem(after)
  }

  /** Takes a notification as it is now. */
  noteItem(item: OutboxRecord): void {
    this.#held.set(item.id, isHeld(item) ? item.look_at : undefined)
    if (item.state === "pending" && !isHeld(item)) this.#waiting.add(item.id)
    else this.#waiting.delete(item.id)
  }

  /** A held firing needs no examination before this, unless something changes. */
  holdUntil(id: OutboxId, at: Instant): void {
    this.#held.set(id, at)
  }

  /** Has every held firing examined soon: something changed that all holds may depend on. */
  examineAll(now: Instant): void {
    for (const id of Array.from(this.#held.keys())) this.#held.set(id, now)
  }

  /** Loads the rows of a request. What is due is asked for by itself. */
  load(workspace: Workspace, request: RowRequest, now: Instant): void {
    const { found } = workspace
    const { dueIncidents, heldOutbox, openings } = request
    if (openings !== undefined) this.#openings?.find(workspace, openings)
    else if (dueIncidents !== undefined) found.dueIncidents = this.#looks.take(now)
    else if (heldOutbox !== undefined)
      found.heldOutbox = this.#held.take(now).flatMap((id) => this.#tables.outbox.get(id) ?? [])
    else loadRows(this.#tables, workspace, request, now)
  }
}
