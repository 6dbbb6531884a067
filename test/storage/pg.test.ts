import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"
import { whyNotAtLength } from "../properties/atLength.ts"

storageSuite({
  name: "PostgreSQL",
  // Its server keeps rows, whichever client has closed; of SQLite, each run shows that they are kept.
  ...(whyNotAtLength !== undefined && { reopensLittle: whyNotAtLength }),
  place: EmptiedPostgres.layerOfFile(),
  client: EmptiedPostgres.client,
})
