import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

interface Item {
  readonly held_by: ReadonlyArray<string> | "damaged" | undefined
  readonly next_evaluation_at?: number
  readonly parent_ended_at?: number
  readonly first_parent_ended_at?: number
}

const MINUTE = 60_000_000

const insert = ({
  first_parent_ended_at = 0,
  held_by,
  next_evaluation_at = 0,
  parent_ended_at = 0,
}: Item): string => `
  INSERT INTO outbox (id, notifier, receiver, state, incident_id, event_type, incident_seq, severity, attempts, created_at,
                      age_starts_at, updated_at, held_by, next_evaluation_at, parent_ended_at, first_parent_ended_at)
  VALUES ('item', 'webhook', 'webhook', 'pending', 'i', 'firing', 1, 'critical', 0, 1, 1, 1,
          ${held_by === undefined ? "NULL" : `'${JSON.stringify(held_by)}'`}, nullif(${next_evaluation_at}, 0),
          nullif(${parent_ended_at}, 0), nullif(${first_parent_ended_at}, 0))`

describe("the migration that stores holds", () => {
  it.each<{ name: string; item: Item; holds: unknown }>([
    { name: "no row that nothing holds", item: { held_by: undefined }, holds: undefined },
    {
      name: "the end of a delay, and no other",
      item: { held_by: ["after", "ack"], next_evaluation_at: 9 },
      holds: [{ by: "after", until: 9 }, { by: "ack" }],
    },
    {
      name: "the wait after an outage",
      item: { held_by: ["outage"], next_evaluation_at: 9 },
      holds: [{ by: "outage", until: 9 }],
    },
    {
      name: "that a row has waited",
      item: { held_by: ["outage"] },
      holds: [{ by: "outage", hasEnded: true }],
    },
    {
      name: "that a row has waited, beside other holds",
      item: { held_by: ["silence:s", "outage"], next_evaluation_at: 9 },
      holds: [{ by: "silence:s" }, { by: "outage", hasEnded: true }],
    },
    {
      name: "the recovery after parents",
      item: {
        held_by: ["parent:k"],
        next_evaluation_at: 9,
        parent_ended_at: 3 * MINUTE,
        first_parent_ended_at: 1,
      },
      holds: [{ by: "parent:k", until: 5 * MINUTE, since: 1, hasEnded: true }],
    },
    {
      name: "parents that came back",
      item: { held_by: ["parent:k"], next_evaluation_at: 9, first_parent_ended_at: 1 },
      holds: [{ by: "parent:k", until: 10 * MINUTE + 1, since: 1 }],
    },
    {
      name: "when parents ended that hold no more",
      item: { held_by: ["ack"], next_evaluation_at: 9, first_parent_ended_at: 1 },
      holds: [{ by: "ack" }, { by: "parent:", since: 1, hasEnded: true }],
    },
    {
      name: "nothing of a damaged row",
      item: { held_by: "damaged", next_evaluation_at: 9 },
      holds: [{ by: "damaged" }],
    },
  ])("makes them of $name", ({ holds, item }) => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start, migrations.slice(0, 2))
    connection.execute(insert(item))
    migrate(connection, start)
    const [found] = connection.query<[string | null]>("SELECT holds FROM outbox").get() ?? []
    assert.deepStrictEqual(found ? JSON.parse(found) : undefined, holds)
    connection.close()
  })
})
