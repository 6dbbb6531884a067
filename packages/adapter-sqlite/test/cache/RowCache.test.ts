import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { heldAfter, largeRows } from "@tocsin/testing/largeRows"
import { start } from "@tocsin/testing/samples"
import { RowCache } from "../../src/cache/RowCache.ts"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

it.each(["labels", "titles"] as const)(
  "a cache of rows holds no more bytes than it may, whatever the size of %s, summaries and IDs",
  (of) => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start)
    const cache = new RowCache(makeTables(connection), { bytes: 4_000_000 })
    const keep = (n: number): void => {
      const { agent, check } = largeRows(n, of)
      cache.apply({
        agent: [{ before: undefined, after: agent }],
        check_state: [{ before: undefined, after: check }],
      })
    }
    const held = heldAfter(() => {
      for (let n = 0; n < 2_000; n++) keep(n)
    })
    assert.isBelow(held, 5_000_000)
    assert.isDefined(cache.agent(AgentId.make("agent-1999")))
    assert.strictEqual(cache.hits, 1)
    connection.close()
  },
)
