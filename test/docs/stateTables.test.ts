import { readFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { stateTablesPage } from "./stateTablesPage.ts"

describe("docs/state-tables.md", () => {
  it("shows the tables of the code (renew it with `node scripts/renderStateTables.ts`)", async () => {
    const page = await readFile(new URL("../../docs/state-tables.md", import.meta.url), "utf8")
    expect(page).toBe(stateTablesPage())
  })
})
