import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { AT_LENGTH } from "../../properties/atLength.ts"
import { BROKEN, GOOD } from "./BrokenStores.ts"

const CONFIG = fileURLToPath(new URL("./vitest.config.ts", import.meta.url))
const VITEST = fileURLToPath(new URL("vitest.mjs", import.meta.resolve("vitest/package.json")))

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly assertionResults: ReadonlyArray<{
      readonly ancestorTitles: ReadonlyArray<string>
      readonly status: "passed" | "failed" | "skipped" | "pending"
    }>
  }>
}

/** Runs the suite on all of them. Returns, by the name of a storage, how its tests ended. */
const runSuite = async (): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-broken-"))
  const file = join(folder, "report.json")
  const args = [VITEST, "run", "--config", CONFIG, "--reporter=json", `--outputFile=${file}`]
  // It exits with 1, since the suite fails broken storages.
  await promisify(execFile)(process.execPath, args, {
    maxBuffer: 100_000_000,
    env: { ...process.env, PROPERTY_RUNS: "0.1" },
  }).catch(() => undefined)
  const report = JSON.parse(readFileSync(file, "utf8")) as Report
  rmSync(folder, { recursive: true })
  const ended = new Map<string, Array<string>>()
  for (const { ancestorTitles, status } of report.testResults.flatMap((file) => file.assertionResults)) {
    const name = ancestorTitles[0]?.replace(/^on /, "") ?? ""
    ended.set(name, [...(ended.get(name) ?? []), status])
  }
  return ended
}

// A suite of two hundred tests runs on each of them.
describe.skipIf(!AT_LENGTH)("the suite of all storages", () => {
  it("fails each storage that loses state, and passes those that do not", { timeout: 600_000 }, async () => {
    const ended = await runSuite()
    const passed = Array.from(ended).flatMap(([name, statuses]) =>
      statuses.every((status) => status === "passed") ? name : [],
    )
    assert.deepStrictEqual(
      passed,
      GOOD.map(({ name }) => name),
    )
    assert.sameMembers(
      Array.from(ended.keys()),
      [...GOOD, ...BROKEN].map(({ name }) => name),
    )
    assert.isAtLeast(BROKEN.length, 10)
  })
})
