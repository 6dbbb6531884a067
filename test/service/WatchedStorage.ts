import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { NO_TOPICS, type Topics } from "@tocsin/core/kernel/topics/Topics"
import { Effect } from "effect"
import { applyChanges, noRows, type Rows } from "./Rows.ts"

/** One change of an outbox item. */
export interface OutboxMove {
  readonly at: Instant.Instant
  /** The process whose command made it. */
  readonly client: string
  readonly before: OutboxRecord | undefined
  readonly after: OutboxRecord
}

/** A storage whose rows and outbox moves a test can read at any time. */
export interface WatchedStorage {
  /** All rows, as the commands so far left them. */
  readonly rows: () => Rows
  readonly moves: ReadonlyArray<OutboxMove>
  /** The storage as the process `client` uses it. */
  readonly clientOf: (client: string) => Storage["Service"]
}

/** The calls to a test. */
interface Watchers {
  readonly onMove?: (move: OutboxMove) => void
  /** Receives the process whose command was committed, and the topics that it changed. */
  readonly onCommit?: (client: string, topics: Topics) => void
}

/**
 * Watches a storage that never fails. `onMove` receives each move in its transaction, after the rows have
 * changed. Where a storage decides a command again, the incidents of its decision before are gone.
 */
export const watchStorage = (
  storage: Storage["Service"],
  { onCommit, onMove }: Watchers = {},
): WatchedStorage => {
  const moves: Array<OutboxMove> = []
  let rows = noRows
  return {
    rows: () => rows,
    moves,
    clientOf: (client) =>
      Storage.of({
        ...storage,
        transact: (command) => {
          let opened: ReadonlyArray<string> = []
          let topics = NO_TOPICS
          const watched = likewise(command, function* (unit, now) {
            const reply = yield* command(unit, now)
            topics = reply.changes.topics
            const changes = unit.changes()
            rows = applyChanges(withoutIncidents(rows, opened), changes)
            opened = changes.incident.flatMap(({ after, before }) => (before || !after ? [] : [after.id]))
            for (const { before, after } of changes.outbox) {
              if (after === undefined) continue
              const move = { at: now, client, before, after }
              moves.push(move)
              onMove?.(move)
            }
            return reply
          })
          return Effect.tap(storage.transact(watched), () => Effect.sync(() => onCommit?.(client, topics)))
        },
      }),
  }
}

const withoutIncidents = (rows: Rows, ids: ReadonlyArray<string>): Rows =>
  ids.length === 0
    ? rows
    : { ...rows, incidents: new Map(Array.from(rows.incidents).filter(([id]) => !ids.includes(id))) }
