import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"
import { whyNotAtLength } from "../properties/atLength.ts"

storageSuite({
  name: "PostgreSQL",
  // Its server keeps them, whichever client has closed; of SQLite, each run shows that they are kept.
  ...(whyNotAtLength !== undefined && { keepsNothing: whyNotAtLength }),
  place: EmptiedPostgres.layerOfFile(),
  client: EmptiedPostgres.client,
})
