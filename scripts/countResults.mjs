// Adds up the results of .ci/run: node countResults.mjs <vitest json> <its exit code> <check output> <its
// exit code>. A run that ended badly counts as at least one failure, also when it left no report
// behind.
import { readFileSync } from "node:fs"
import process from "node:process"

/** @typedef {{ readonly passed: number, readonly failed: number }} Count */

/**
 * @param {string} path
 * @returns {Count}
 */
function countTests(path) {
  const report = JSON.parse(readFileSync(path, "utf8"))
  /**
   * @type {ReadonlyArray<{ status: string, assertionResults: ReadonlyArray<{ status: string }> }>}
   */
  const files = report.testResults
  // A file that could not be loaded has no test to count.
  const unloadable = files.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  )
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloadable.length }
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

const [testReport = "", testExit = "", checkOutput = "", checkExit = ""] = process.argv.slice(2)
const tests = outcome(countTests, testReport, testExit)
const checks = outcome(countChecks, checkOutput, checkExit)
const failed = tests.failed + checks.failed
process.exitCode = failed === 0 ? 0 : 1
process.stdout.write(`${tests.passed + checks.passed} passed, ${failed} failed\n`)
