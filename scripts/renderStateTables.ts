// `node scripts/renderStateTables.ts` draws the state tables as one page, dist/state-tables.md.
import { mkdirSync, writeFileSync } from "node:fs"
import { stateTablesPage } from "../test/docs/stateTablesPage.ts"

const folder = new URL("../dist/", import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL("state-tables.md", folder), stateTablesPage())
