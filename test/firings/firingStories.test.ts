import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { compareInMemory, compareOn } from "./compareStories.ts"

const sqlite = SqliteStorage.layer({ file: ":memory:" })
const postgres = Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))).pipe(
  Layer.provide(EmptiedPostgres.layerOfFile()),
)

describe("random stories of policies, results, acts of people and outages", () => {
  it.live("lead to the messages of the model, as simulations predict", () =>
    compareInMemory({ from: 0, to: 5_000, few: 200 }),
  )

  it.live("lead to the same from two replicas on SQLite", () =>
    compareOn(sqlite, { from: 0, to: 2_000, few: 6 }),
  )

  it.live("lead to the same from two replicas on PostgreSQL", () =>
    compareOn(postgres, { from: 0, to: 500, few: 3 }),
  )
})
