// Runs every check that is not a test, even after a failure. The last line counts them.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import process from "node:process"
import { auditDependencies } from "./auditDependencies.ts"

/** @typedef {{ readonly passed: boolean, readonly output: string }} Outcome */

/**
 * @param {string} script
 * @param {readonly string[]} args
 * @returns {Promise<Outcome>}
 */
function runTool(script, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [`node_modules/${script}`, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    child.stdout.on("data", (chunk) => (output += chunk))
    child.stderr.on("data", (chunk) => (output += chunk))
    child.on("close", (code) => resolve({ passed: code === 0, output }))
  })
}

/**
 * Every project of tsconfig.json on its own: `tsc -b` would skip a project when only another one's sources changed.
 * One thread for each: several threads of one compiler repeat each other's work.
 *
 * @returns {Promise<Outcome>}
 */
async function checkTypes() {
  const solution = readFileSync("tsconfig.json", "utf8")
  const queue = Array.from(solution.matchAll(/"path": "([^"]+)"/g), (match) => match[1] ?? "")
  /** @type {Array<Outcome>} */
  const outcomes = []
  const worker = async () => {
    for (let project = queue.shift(); project !== undefined; project = queue.shift()) {
      // The findings of the last run stay with the packages: a second run reads the changes since.
      const known = `node_modules/.cache/tocsin/types/${project.replaceAll("/", "-")}.tsbuildinfo`
      const incremental = ["--incremental", "--tsBuildInfoFile", known]
      const args = ["--pretty", "false", "--singleThreaded", ...incremental, "-p", project]
      outcomes.push(await runTool("typescript/bin/tsc", args))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return {
    passed: outcomes.length > 0 && outcomes.every((outcome) => outcome.passed),
    output: outcomes.map((outcome) => outcome.output).join(""),
  }
}

/** @type {ReadonlyArray<readonly [name: string, check: () => Promise<Outcome>]>} */
const checks = [
  ["types", checkTypes],
  // The fixtures break the rules on purpose; test/tidy/lintRules.test.ts sees that each is refused.
  [
    "lint",
    () => runTool("oxlint/bin/oxlint", ["--deny-warnings", "--ignore-pattern", "scripts/lint-fixtures/**"]),
  ],
  ["format", () => runTool("oxfmt/bin/oxfmt", ["--check"])],
  ["audit", () => auditDependencies()],
  ["unused", () => runTool("knip/bin/knip.js", ["--no-progress", "--no-config-hints"])],
]

// All of them run at the same time; the first one listed is by far the longest.
const running = checks.map(([name, check]) => /** @type {const} */ ([name, check()]))
let failed = 0
for (const [name, outcome] of running) {
  const { passed, output } = await outcome
  if (!passed) failed += 1
  const result = output.startsWith("left out") ? output.trimEnd() : "passed"
  process.stdout.write(passed ? `${name}: ${result}\n` : `${output.trimEnd()}\n${name}: failed\n`)
}
process.stdout.write(`checks: ${checks.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
