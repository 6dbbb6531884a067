// Writes docs/state-tables.md from the tables that the code follows: `node scripts/renderStateTables.ts > docs/state-tables.md`.
import process from "node:process"
import { stateTablesPage } from "../test/docs/stateTablesPage.ts"

process.stdout.write(stateTablesPage())
