// `node scripts/renderStateTables.ts` updates the pages that are generated from state tables.
import { readFileSync, writeFileSync } from "node:fs"
import { architecturePage, stateTablesPage } from "../test/docs/stateTablesPage.ts"

const architecture = new URL("../docs/architecture.md", import.meta.url)

writeFileSync(new URL("../docs/state-tables.md", import.meta.url), stateTablesPage())
writeFileSync(architecture, architecturePage(readFileSync(architecture, "utf8")))
