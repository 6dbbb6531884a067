import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

interface Incident {
  readonly resolved_at: number | null
  readonly resolved_by?: "event" | "agent_gone"
}

interface Item {
  readonly state?: string
  readonly event_type?: "firing" | "resolved"
  readonly attempts?: number
  readonly last_error?: string
  readonly updated_at?: number
}

const insertIncident = ({ resolved_at, resolved_by }: Incident): string => `
  INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, resolved_at, resolved_by,
                        member_changes, members_warning, members_unknown, members_critical, log_entries)
  VALUES ('i', 'named', 'i', '${resolved_at === null ? "open" : "resolved"}', 'critical', 'a', 'c', 1, ${resolved_at},
          ${resolved_by === undefined ? "NULL" : `'${resolved_by}'`}, 1, 0, 0, 0, 0)`

const insertItem = (
  { attempts = 0, event_type = "firing", last_error, state = "discarded", updated_at = 5 }: Item,
  id: number,
): string => `
  INSERT INTO outbox (id, notifier, receiver, state, incident_id, event_type, incident_seq, severity, attempts, first_attempted_at,
                      last_error, created_at, age_starts_at, updated_at)
  VALUES ('${id}', 'webhook', 'webhook', '${state}', 'i', '${event_type}', 1, 'critical', ${attempts},
          ${attempts > 0 ? 2 : "NULL"}, ${last_error === undefined ? "NULL" : `'${last_error}'`}, 1, 1, ${updated_at})`

const open = { resolved_at: null }
const resolved = { resolved_at: 5, resolved_by: "event" } as const
const isGone = { resolved_at: 5, resolved_by: "agent_gone" } as const
const sent = { attempts: 1, state: "sent" }
const refused = { attempts: 1, last_error: "answered 500" }

describe("the migration that states why items were discarded", () => {
  it.each<{ because: string; incident: Incident; first: Item; other?: Item }>([
    { because: "shadowed", incident: open, first: { attempts: 1 } },
    {
      because: "firing_refused",
      incident: resolved,
      first: { event_type: "resolved" },
      other: { ...refused, state: "failed" },
    },
    { because: "notifier_gone", incident: resolved, first: { event_type: "resolved" }, other: sent },
    { because: "coalesced", incident: open, first: {}, other: sent },
    { because: "coalesced", incident: resolved, first: { updated_at: 4 }, other: {} },
    { because: "notifier_gone", incident: open, first: {} },
    { because: "notifier_gone", incident: resolved, first: { updated_at: 6 } },
    { because: "agent_gone", incident: isGone, first: { ...refused, updated_at: 6 } },
    { because: "agent_gone", incident: isGone, first: {} },
    { because: "incident_resolved", incident: resolved, first: {}, other: sent },
  ])("finds $because", ({ because, first, incident, other }) => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start, migrations.slice(0, 2))
    connection.execute(insertIncident(incident))
    connection.execute(insertItem(first, 0))
    if (other !== undefined) connection.execute(insertItem(other, 1))
    migrate(connection, start)
    const found = connection
      .query<[string | null]>("SELECT discarded_because FROM outbox WHERE id = '0'")
      .get()
    assert.deepStrictEqual(found, [because])
    connection.close()
  })
})
