import { Duration } from "effect"
import type { OutboxId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import { type Command, decideSync } from "../engine/workspace/Decision.ts"
import { Workspace, type WorkspaceChanges } from "../engine/workspace/Workspace.ts"
import type { HoldOptions } from "../holds/gatherHolds.ts"
import { isHeld } from "../holds/heldItems.ts"
import { heldItems } from "../holds/readHolds.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { MemoryTables } from "../memory/MemoryTables.ts"
import { persistChanges } from "../memory/persistChanges.ts"
import { claimOutbox, type ClaimedItem, type ClaimInput } from "../notifications/claimOutbox.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import { settleAttempt } from "../notifications/settleAttempt.ts"
import type { DueWork } from "./DueWork.ts"
import type { HeldBy, SimulationListener, WithheldFiring } from "./SimulationListener.ts"
import { takeIncident } from "./takeIncident.ts"

const CLAIMED_AT_ONCE = 500
const LEASE = Duration.seconds(60)

interface Options extends HoldOptions {
  readonly listener: SimulationListener
}

/** Runs the commands of a simulated service, delivers each notification, and reports both. */
export class SimulatedCommits {
  readonly #tables: MemoryTables
  readonly #due: DueWork
  readonly #options: Options
  readonly #listener: SimulationListener
  /** What has withheld each firing that waits. */
  readonly #held = new Map<OutboxId, HeldBy>()

  constructor(tables: MemoryTables, due: DueWork, options: Options) {
    this.#tables = tables
    this.#due = due
    this.#options = options
    this.#listener = options.listener
  }

  /** Takes the open incidents. Returns the firings that are still held. */
  end(): ReadonlyArray<WithheldFiring> {
    const held = Array.from(this.#held.keys()).flatMap(
      (id) => this.#unsent(this.#tables.outbox.get(id)) ?? [],
    )
    for (const incident of Array.from(this.#tables.incidents.values())) this.#take(incident)
    return held
  }

  /** Runs a command, and delivers what is due then. */
  run<A>(command: Command<A>, at: Instant.Instant): A {
    const { reply, changes } = this.#transact(command, at)
    if (this.#due.isClaimable) this.#deliver(at)
    for (const { after } of changes.incidents) if (after?.state === "resolved") this.#take(after)
    return reply
  }

  #transact<A>(command: Command<A>, at: Instant.Instant) {
    const workspace = new Workspace()
    const reply = this.#decide(command, workspace, at)
    const changes = workspace.changes()
    persistChanges(this.#tables, changes)
    // Known event IDs stay; nothing reads the rows.
    this.#tables.history.clear()
    this.#tables.audit.clear()
    this.#due.note(changes)
    this.#noteUnsent(changes, at)
    return { reply, changes }
  }

  #decide<A>(command: Command<A>, workspace: Workspace, at: Instant.Instant): A {
    return decideSync(command(workspace, at), (request) => this.#due.load(workspace, request, at))
  }

  #deliver(at: Instant.Instant): void {
    const input = {
      notifiers: Array.from(this.#options.policy().receivers.keys()),
      limit: CLAIMED_AT_ONCE,
      lease: LEASE,
      random: 0,
      holds: this.#options,
    }
    while (this.#due.isClaimable) {
      for (const { claim, notification } of this.#transact(delivery(input), at).reply) {
        this.#listener.sent({ at, notification, heldBy: this.#held.get(claim.id) ?? [] })
        this.#held.delete(claim.id)
      }
    }
  }

  /** Notes the firings that are held now, and reports those that were discarded. */
  #noteUnsent({ outbox }: WorkspaceChanges, at: Instant.Instant): void {
    const held = outbox.flatMap(({ after }) => (after !== undefined && isHeld(after) ? [after] : []))
    if (held.length > 0) this.#noteHeld(held, at)
    for (const { after } of outbox) {
      if (after?.state !== "discarded") continue
      const unsent = this.#unsent(after)
      if (unsent !== undefined) this.#listener.discarded(unsent)
      this.#held.delete(after.id)
    }
  }

  #noteHeld(items: ReadonlyArray<OutboxRecord>, at: Instant.Instant): void {
    const holds = this.#decide(heldItems(items, this.#options), new Workspace(), at)
    for (const { id, look_at } of items) {
      const { held_by = [], held_until = at } = holds.get(id) ?? {}
      const known = this.#held.get(id) ?? []
      this.#held.set(id, [...known, ...held_by.filter((by) => !known.includes(by))])
      // The service examines it every 5 minutes in any case; here nothing changes unnoticed.
      if (look_at !== undefined && look_at > at) this.#due.holdUntil(id, Instant.max(look_at, held_until))
    }
  }

  #unsent(item: OutboxRecord | undefined): WithheldFiring | undefined {
    const incident = item && this.#tables.incidents.get(item.incident_id)
    return item && incident && { item, incident, heldBy: this.#held.get(item.id) ?? [] }
  }

  /** Moves an incident out of the tables: a resolved one is never read again. */
  #take(incident: IncidentRecord): void {
    this.#listener.ended(takeIncident(this.#tables, incident))
  }
}

/** Claims what is due, and settles it as delivered. */
const delivery = (input: ClaimInput): Command<ReadonlyArray<ClaimedItem>> =>
  function* (workspace, now) {
    const claimed = yield* claimOutbox(input)(workspace, now)
    for (const { claim } of claimed) yield* settleAttempt(claim, { outcome: "delivered" }, 0)(workspace, now)
    return claimed
  }
