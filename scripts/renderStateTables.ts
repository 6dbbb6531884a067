// `node scripts/renderStateTables.ts` updates the page that is generated from state tables.
import { writeFileSync } from "node:fs"
import { stateTablesPage } from "../test/docs/stateTablesPage.ts"

writeFileSync(new URL("../docs/state-tables.md", import.meta.url), stateTablesPage())
