import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

const MINUTE = 60_000_000

/** Its items are below. SQLite's tests have every kind. */
const INCIDENT = `
INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, resolved_at, resolved_by,
                      member_changes, members_warning, members_unknown, members_critical, log_entries)
VALUES ('i', 'named', 'i', 'resolved', 'critical', 'a', 'c', 1, 5, 'agent_gone', 1, 0, 0, 0, 0)`

const ROWS = `
INSERT INTO outbox (id, notifier, receiver, state, incident_id, event_type, incident_seq, severity, attempts, created_at, age_starts_at,
                    updated_at, held_by, next_evaluation_at, parent_ended_at, first_parent_ended_at)
SELECT id, 'webhook', id, state, 'i', 'firing', 1, 'critical', 0, 1, 1, updated_at, held_by::json, at, ended, first
FROM (VALUES
  ('discarded', 'discarded', 5, NULL, NULL, NULL, NULL),
  ('unclaimed', 'discarded', 4, NULL, NULL, NULL, NULL),
  ('delayed', 'pending', 1, '["after","ack"]', 9, NULL, NULL),
  ('free', 'pending', 1, '["outage"]', NULL, NULL, NULL),
  ('recovering', 'pending', 1, '["parent:k"]', 9, ${3 * MINUTE}, 1),
  ('silenced', 'pending', 1, '["silence:s","outage"]', 9, NULL, 1)
) AS row (id, state, updated_at, held_by, at, ended, first)`

layer(ScratchPostgres.layer)("migrations of the outbox", (it) => {
  it.effect("state why items were discarded, and store holds", () =>
    Effect.gen(function* () {
      const { sql } = yield* (yield* ScratchPostgres).replica()
      yield* migrate(sql, { known: migrations.slice(0, 2) })
      yield* sql.unsafe(INCIDENT)
      yield* sql.unsafe(ROWS)
      yield* migrate(sql)
      const found = yield* sql<{ id: string; discarded_because: string | null; holds: unknown }>`
        SELECT id, discarded_because, holds FROM outbox ORDER BY id`
      assert.deepStrictEqual(
        found.map(({ discarded_because, holds, id }) => [id, discarded_because, holds]),
        [
          ["delayed", null, [{ by: "after", until: 9 }, { by: "ack" }]],
          ["discarded", "agent_gone", null],
          ["free", null, [{ by: "outage", hasEnded: true }]],
          ["recovering", null, [{ by: "parent:k", until: 5 * MINUTE, since: 1, hasEnded: true }]],
          [
            "silenced",
            null,
            [
              { by: "silence:s" },
              { by: "outage", hasEnded: true },
              { by: "parent:", since: 1, hasEnded: true },
            ],
          ],
          ["unclaimed", "notifier_gone", null],
        ],
      )
    }),
  )
})
