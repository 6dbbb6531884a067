// Renews what pages show of the tables that the code follows: `node scripts/renderStateTables.ts`.
import { readFileSync, writeFileSync } from "node:fs"
import { architecturePage, stateTablesPage } from "../test/docs/stateTablesPage.ts"

const architecture = new URL("../docs/architecture.md", import.meta.url)

writeFileSync(new URL("../docs/state-tables.md", import.meta.url), stateTablesPage())
writeFileSync(architecture, architecturePage(readFileSync(architecture, "utf8")))
