import type * as Instant from "@tocsin/core/contract/Instant"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import { Storage } from "@tocsin/core/ports/Storage"

/** One change of an outbox item. */
export interface OutboxMove {
  readonly at: Instant.Instant
  /** Whose command made it. */
  readonly client: string
  readonly before: OutboxRecord | undefined
  readonly after: OutboxRecord
}

/** All that became of the outbox, and the rows as they stand. */
export interface OutboxWatch {
  readonly moves: ReadonlyArray<OutboxMove>
  readonly items: ReadonlyMap<string, OutboxRecord>
  readonly incidents: ReadonlyMap<string, IncidentRecord>
  /** By `incident/severity`. */
  readonly alerts: ReadonlyMap<string, AlertRecord>
  /** The storage as `client` reaches it. */
  readonly clientOf: (client: string) => Storage["Service"]
}

/** Watches a storage that decides once and cannot fail. `onMove` is told of each move in its transaction. */
export const watchOutbox = (
  storage: Storage["Service"],
  onMove: (move: OutboxMove) => void = () => {},
): OutboxWatch => {
  const moves: Array<OutboxMove> = []
  const items = new Map<string, OutboxRecord>()
  const incidents = new Map<string, IncidentRecord>()
  const alerts = new Map<string, AlertRecord>()
  const note = (move: OutboxMove): void => {
    moves.push(move)
    onMove(move)
    items.set(move.after.id, move.after)
  }
  return {
    moves,
    items,
    incidents,
    alerts,
    clientOf: (client) =>
      Storage.of({
        ...storage,
        transact: (command) =>
          storage.transact(function* (workspace, now) {
            const reply = yield* command(workspace, now)
            const changes = workspace.changes()
            for (const { after } of changes.incidents) if (after !== undefined) incidents.set(after.id, after)
            for (const { before, after } of changes.outbox) {
              if (after !== undefined) note({ at: now, client, before, after })
            }
            for (const { before, after } of changes.alerts) {
              if (after !== undefined) alerts.set(`${after.incident_id}/${after.severity}`, after)
              else if (before !== undefined) alerts.delete(`${before.incident_id}/${before.severity}`)
            }
            return reply
          }),
      }),
  }
}
