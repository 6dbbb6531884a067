import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"
import { whyNotAtLength } from "../properties/atLength.ts"

storageSuite({
  name: "PostgreSQL",
  // A connection costs 40 ms of processor time, and each test opens several. On SQLite, each run has all.
  ...(whyNotAtLength !== undefined && { sampled: whyNotAtLength }),
  place: EmptiedPostgres.layerOfFile(),
  client: EmptiedPostgres.client,
})
