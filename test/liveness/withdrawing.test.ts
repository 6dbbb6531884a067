import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { it } from "@effect/vitest"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { Layer } from "effect"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { playWithdrawals, withdrawals } from "./playWithdrawals.ts"

const follows = (storage: Layer.Layer<Storage, unknown>, runs: number) =>
  forAll(withdrawals, { runs, runMillis: PROPERTY_TIMEOUT_MILLIS }, (steps) =>
    playWithdrawals(steps, storage),
  )

const TITLE =
  "a check is withdrawn, and its incident ends, exactly when the rules say, in any order of events"
const postgres = EmptiedPostgres.client.pipe(Layer.provide(EmptiedPostgres.layerOfFile()))

it.live(TITLE, () => follows(MemoryStorage.layer, 400), PROPERTY_TIMEOUT_MILLIS)
it.live.skipIf(!AT_LENGTH)(
  `${TITLE}: on SQLite${unlessAtLength}`,
  () => follows(SqliteStorage.layer({ file: ":memory:" }), 100),
  PROPERTY_TIMEOUT_MILLIS,
)
it.live.skipIf(!AT_LENGTH)(
  `${TITLE}: on PostgreSQL${unlessAtLength}`,
  () => follows(postgres, 50),
  PROPERTY_TIMEOUT_MILLIS,
)
