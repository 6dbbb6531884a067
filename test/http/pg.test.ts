import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { endpointSuite } from "./endpointSuite.ts"
import { walkSuite } from "./walkSuite.ts"

const subject = {
  name: "PostgreSQL",
  place: EmptiedPostgres.layerOfFile(),
  client: Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))),
}

describe("HTTP contract: PostgreSQL", () => {
  describe("endpoints", () => endpointSuite(subject))
  describe("walk", () => walkSuite(subject))
})
