// Writes docs/state-tables.md from the tables that the code follows: `node scripts/renderStateTables.ts`.
import { writeFileSync } from "node:fs"
import { stateTablesPage } from "../test/docs/stateTablesPage.ts"

writeFileSync(new URL("../docs/state-tables.md", import.meta.url), stateTablesPage())
