import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { type Command, decideSync, lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import type { FiringOptions } from "@tocsin/core/heart/firings/gatherFacts"
import type { IncidentRecord, IncidentChangeRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { keyText } from "@tocsin/core/lists/StoredTables"
import { persistChanges } from "@tocsin/adapter-memory/transact"
import { claim, judgeDue } from "@tocsin/core/heart/notifications/claimOutbox"
import { holdsInForce, isHeld, type OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { HoldName } from "@tocsin/core/heart/model/StoredHold"
import { attempted } from "@tocsin/core/heart/notifications/recordResults"
import type { DueWork } from "./DueWork.ts"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import type { UnsentFiring } from "./SimulationReport.ts"

/** The holds of a firing, in the order in which they were found. */
export type HeldBy = ReadonlyArray<HoldName>

export interface SentNotification {
  readonly at: Instant.Instant
  readonly notification: DeliveryAttempt
  /** Empty if it was never held. */
  readonly heldBy: HeldBy
}

export interface HeldFiring {
  readonly item: OutboxRecord
  readonly incident: IncidentRecord
  readonly heldBy: HeldBy
}

type UnsentReason = UnsentFiring["reason"]

/** Why a firing was not sent: one that is not discarded is still held. */
export const reasonOf = ({ incident, item }: HeldFiring): UnsentReason =>
  item.state !== "discarded" ? "still_held" : incident.state === "open" ? "replaced" : "resolved"

export interface EndedIncident {
  readonly incident: IncidentRecord
  readonly changes: ReadonlyArray<IncidentChangeRecord>
}

/** Hears what becomes of notifications and incidents. */
export interface SimulationListener {
  readonly sent: (sent: SentNotification) => void
  readonly discarded: (unsent: HeldFiring) => void
  readonly ended: (incident: EndedIncident) => void
}

interface Options extends FiringOptions {
  readonly listener: SimulationListener
}

/** Runs the commands of a simulated service, delivers each notification, and reports both. */
export class SimulatedCommits {
  readonly #tables: MemoryTables
  readonly #due: DueWork
  readonly #options: Options
  readonly #listener: SimulationListener
  readonly #held = new Map<OutboxId, HeldBy>()

  constructor(tables: MemoryTables, due: DueWork, options: Options) {
    this.#tables = tables
    this.#due = due
    this.#options = options
    this.#listener = options.listener
  }

  /** Takes the open incidents. Returns the firings that are still held. */
  end(): ReadonlyArray<HeldFiring> {
    const held = Array.from(this.#held.keys()).flatMap(
      (id) => this.#unsent(this.#tables.keyed.outbox.get(id)) ?? [],
    )
    for (const incident of Array.from(this.#tables.incidents.values())) this.#take(incident)
    return held
  }

  /** Runs a command, and delivers what is due then. */
  run<A>(command: Command<A>, at: Instant.Instant): A {
    const { reply, changes } = this.#transact(command, at)
    this.#deliver(at)
    for (const { after } of changes.incident) if (after?.state === "resolved") this.#take(after)
    return reply
  }

  #transact<A>(command: Command<A>, at: Instant.Instant) {
    const unit = openUnit()
    const reply = this.#decide(command, unit, at)
    const changes = unit.changes()
    persistChanges(this.#tables, changes)
    // Known event IDs stay; nothing reads the rows. Clearing makes a new table, also of an empty one.
    const { audit, history } = this.#tables
    if (history.size > 0) history.clear()
    if (audit.size > 0) audit.clear()
    this.#due.note(changes, at)
    this.#noteUnsent(changes, at)
    return { reply, changes }
  }

  #decide<A>(command: Command<A>, unit: UnitOfWork, at: Instant.Instant): A {
    return decideSync(command(unit, at), (step) => this.#due.answer(unit, step, at))
  }

  /** Sends what is due, at the first attempt; holds what a claim would. */
  #deliver(at: Instant.Instant): void {
    const due = this.#due.take(at)
    if (due.length === 0) return
    const judge = lone((unit, now) => judgeDue(unit, due, this.#options, now))
    const { free, held } = this.#decide(judge, openUnit(), at)
    for (const item of held) {
      this.#tables.keyed.outbox.set(item.id, item)
      this.#noteHolds(item, at)
    }
    for (const found of free) {
      const { item, notification } = claim(found, at, at)
      this.#tables.keyed.outbox.set(item.id, attempted(item, { outcome: "delivered" }, at, 0))
      this.#listener.sent({ at, notification, heldBy: this.#held.get(item.id) ?? [] })
      this.#held.delete(item.id)
    }
  }

  /** Notes the firings that are held now, and reports those that were discarded. */
  #noteUnsent({ outbox }: UnitOfWorkChanges, at: Instant.Instant): void {
    for (const { after } of outbox) {
      if (after !== undefined && isHeld(after)) this.#noteHolds(after, at)
      if (after?.state !== "discarded") continue
      const unsent = this.#unsent(after)
      if (unsent !== undefined) this.#listener.discarded(unsent)
      this.#held.delete(after.id)
    }
  }

  /** Notes the holds of a row, without a delay that is over. */
  #noteHolds(item: OutboxRecord, at: Instant.Instant): void {
    const present = holdsInForce(item).filter(({ until }) => until === undefined || until > Number(at))
    const names = [...(this.#held.get(item.id) ?? []), ...present.map(({ by }) => by)]
    this.#held.set(item.id, Array.from(new Set(names)))
  }

  #unsent(item: OutboxRecord | undefined): HeldFiring | undefined {
    const incident = item && this.#tables.incidents.get(item.incident_id)
    return item && incident && { item, incident, heldBy: this.#held.get(item.id) ?? [] }
  }

  /** Moves an incident out of the tables with all that belongs to it: a resolved one is never read again. */
  #take(incident: IncidentRecord): void {
    const { id } = incident
    const tables = this.#tables
    const changes = tables.incidentChanges.get(id) ?? []
    tables.incidentChanges.delete(id)
    tables.incidentLog.delete(id)
    const { alert, incident_member, outbox } = tables.keyed
    for (const row of outbox.of("incident_id", id)) outbox.delete(row.id)
    for (const row of incident_member.of("incident_id", id))
      incident_member.delete(keyText("incident_member", row))
    for (const row of alert.of("incident_id", id)) alert.delete(keyText("alert", row))
    tables.incidents.delete(id)
    this.#listener.ended({ incident, changes })
  }
}
