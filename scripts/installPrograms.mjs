// Installs from Debian what tests look for and this machine lacks (scripts/programs.mjs), as `.ci/run` does. Fails where
// that fails; says what is left out where there is no apt-get, or no right to use it. Plain JavaScript, for any Node.js
// from 20 on: it runs beside `npm ci`.
import { spawnSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import process from "node:process"
import { programPath, programs } from "./programs.mjs"

const ATTEMPTS = 3
const ATTEMPT_MILLIS = 240_000
/** Debian's scripts ask it before they start a daemon: 101 forbids that. */
const POLICY = "/usr/sbin/policy-rc.d"

const OPTIONS = [
  "Acquire::Retries=3",
  "Acquire::http::Timeout=30",
  // A failed download of a list is a failure.
  "APT::Update::Error-Mode=any",
  "DPkg::Lock::Timeout=120",
  "Dpkg::Options::=--force-confold",
  "Dpkg::Use-Pty=0",
].flatMap((option) => ["-o", option])

const say = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`)

/** @param {readonly string[]} args */
function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" }
  for (let attempt = 1; ; attempt += 1) {
    const { status, signal, stdout, stderr } = spawnSync("apt-get", ["-qq", ...OPTIONS, ...args], {
      env,
      encoding: "utf8",
      timeout: ATTEMPT_MILLIS,
      maxBuffer: 1e8,
    })
    if (status === 0) return true
    say(`apt-get ${args.join(" ")}: attempt ${attempt} of ${ATTEMPTS} ended with ${status ?? signal}.`)
    say(`${stdout}${stderr}`.trim().split("\n").slice(-20).join("\n"))
    if (attempt === ATTEMPTS) return false
    spawnSync("sleep", [String(5 * attempt)])
  }
}

/**
 * Whether the lists of apt-get have a package: other systems than Debian 12 name some otherwise.
 *
 * @param {string} name
 */
const isKnown = (name) =>
  /Candidate: (?!\(none\))/.test(spawnSync("apt-cache", ["policy", name], { encoding: "utf8" }).stdout ?? "")

const names = /** @type {ReadonlyArray<keyof typeof programs>} */ (Object.keys(programs))
const lacked = () =>
  names.filter((name) => !("atLength" in programs[name]) && programPath(name) === undefined)

/** @param {readonly string[]} packages */
function install(packages) {
  // Only what is written here is removed.
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    return apt(["install", "-y", "--no-install-recommends", "--no-upgrade", ...packages])
  } finally {
    if (isOurs) rmSync(POLICY, { force: true })
  }
}

function main() {
  const missing = lacked()
  if (missing.length === 0) return say("programs: all that tests look for are here")
  if (spawnSync("apt-get", ["--version"]).error !== undefined)
    return say(`programs: there is no apt-get here, so tests skip ${missing.join(", ")}`)
  if (process.getuid?.() !== 0)
    return say(`programs: only root may install, so tests skip ${missing.join(", ")}`)
  if (!apt(["update"])) return void (process.exitCode = 1)
  const wanted = missing.filter((name) => programs[name].packages.every(isKnown))
  const unknown = missing.filter((name) => !wanted.includes(name))
  if (unknown.length > 0) say(`programs: no package of this system has ${unknown.join(", ")}`)
  const packages = Array.from(new Set(wanted.flatMap((name) => programs[name].packages)))
  if (packages.length > 0 && !install(packages)) return void (process.exitCode = 1)
  const absent = lacked().filter((name) => wanted.includes(name))
  if (absent.length > 0) {
    say(`programs: installed without ${absent.join(", ")}; correct scripts/programs.mjs`)
    process.exitCode = 1
  } else say(`programs: installed ${packages.join(", ")}`)
}

main()
