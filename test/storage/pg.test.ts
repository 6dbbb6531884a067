import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"

storageSuite({
  name: "PostgreSQL",
  place: EmptiedPostgres.layerOfFile(),
  client: EmptiedPostgres.client,
})
