// Adds up the results of .ci/run: node countResults.mjs <vitest json> <its exit code> <check output> <its
// exit code> <exit code of the programs' installation>. A run that ended badly counts as at least one failure, also
// when it left no report behind. Lists what was skipped and why; a test that was skipped without a reason counts as
// failed.
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import process from "node:process"
import { lineOfFilesLeftOut } from "./filesAtLength.mjs"
import { skippedLines, whySkipped } from "./skippedTests.mjs"

/** @typedef {{ readonly passed: number, readonly failed: number }} Count */

/**
 * @param {string} path
 * @returns {Count}
 */
function countTests(path) {
  const report = JSON.parse(readFileSync(path, "utf8"))
  /**
   * @typedef {{ status: string, title: string, ancestorTitles: ReadonlyArray<string> }} TestResult
   * @type {ReadonlyArray<{ name: string, status: string, assertionResults: ReadonlyArray<TestResult> }>}
   */
  const files = report.testResults
  // A file that could not be loaded has no test to count.
  const unloadable = files.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  )
  const skipped = files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => !["passed", "failed"].includes(status))
      .map(({ ancestorTitles, title }) => ({
        file: relative(process.cwd(), name),
        names: [...ancestorTitles, title],
      })),
  )
  const { reasons, unexplained } = whySkipped(skipped)
  for (const line of skippedLines(reasons)) process.stdout.write(`${line}\n`)
  for (const { file, names } of unexplained)
    process.stdout.write(`skipped without a reason in its name: ${file} > ${names.join(" > ")}\n`)
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length + unexplained.length,
  }
}

/**
 * @param {string} path
 * @returns {Count}
 */
function countChecks(path) {
  const [, passed, failed] = /^checks: (\d+) passed, (\d+) failed$/m.exec(readFileSync(path, "utf8")) ?? []
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0) }
}

/**
 * @param {(path: string) => Count} count
 * @param {string} path
 * @param {string} exitCode
 * @returns {Count}
 */
function outcome(count, path, exitCode) {
  let found = { passed: 0, failed: 0 }
  try {
    found = count(path)
  } catch (cause) {
    process.stderr.write(`No results in ${path}: ${cause}\n`)
  }
  const endedBadly = exitCode !== "0" || found.passed === 0
  return endedBadly && found.failed === 0 ? { ...found, failed: 1 } : found
}

const [testReport = "", testExit = "", checkOutput = "", checkExit = "", programsExit = ""] =
  process.argv.slice(2)
const tests = outcome(countTests, testReport, testExit)
process.stdout.write(lineOfFilesLeftOut())
const checks = outcome(countChecks, checkOutput, checkExit)
const failed = tests.failed + checks.failed + (programsExit === "0" ? 0 : 1)
process.exitCode = failed === 0 ? 0 : 1
process.stdout.write(`${tests.passed + checks.passed} passed, ${failed} failed\n`)
