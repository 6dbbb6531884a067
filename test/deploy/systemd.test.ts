import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { environmentOf, readUnit } from "./UnitFile.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const UNIT = "deploy/systemd/tocsin.service"
const DROP_IN = "deploy/systemd/postgres.conf"
const service = readUnit(UNIT)["Service"] ?? {}

const ANALYZER = programPath("systemd-analyze") ?? "systemd-analyze"

/** Of 10, as `systemd-analyze security` counts it. */
const MOST_EXPOSURE = 2

const run = (
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = process.env,
): { readonly passed: boolean; readonly output: string } => {
  const { status, stdout, stderr } = spawnSync(ANALYZER, args, { encoding: "utf8", env })
  // Without the program there is no output.
  return { passed: status === 0, output: `${stdout ?? ""}${stderr ?? ""}` }
}

const version = Number(/^systemd (\d+)/.exec(run(["--version"]).output)?.[1] ?? 0)
/** From which on a file can be judged without a manager that runs. */
const OFFLINE_SINCE = 250
const isThere = version >= OFFLINE_SINCE
const reason = skippedFor(
  lacking("systemd-analyze") ??
    (isThere ? undefined : `systemd-analyze ${version} is below ${OFFLINE_SINCE}`),
)

/** A unit with faults, which the targets of every machine start. */
const NEIGHBOUR = "[Service]\nExecStart=/bin/true\nStandardOutput=syslog\nNonsense=1\n"

/** The findings of systemd-analyze in a unit of `folder`, and in all that it loads with it, such a neighbour first. */
const verify = (folder: string, name: string) => {
  const neighbours = join(folder, "neighbours")
  mkdirSync(join(neighbours, "sysinit.target.wants"), { recursive: true })
  writeFileSync(join(neighbours, "neighbour.service"), NEIGHBOUR)
  symlinkSync("../neighbour.service", join(neighbours, "sysinit.target.wants/neighbour.service"))
  // Before those of this machine.
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${neighbours}:` }
  const found = {
    ours: run(["verify", "--recursive-errors=no", join(folder, name)], env),
    all: run(["verify", join(folder, name)], env).output,
  }
  rmSync(neighbours, { recursive: true })
  return found
}

describe("the systemd unit", () => {
  let folder: string
  let copy: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tocsin-systemd-"))
    copy = join(folder, "tocsin.service")
    // Node.js is not where systemd looks for programs on every machine of the tests.
    writeFileSync(
      copy,
      readFileSync(UNIT, "utf8").replace("ExecStart=node ", `ExecStart=${process.execPath} `),
    )
    mkdirSync(`${copy}.d`)
    cpSync(DROP_IN, join(`${copy}.d`, "postgres.conf"))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it("runs as a separate user", () => {
    assert.deepStrictEqual([service["User"], service["Group"]], [["tocsin"], ["tocsin"]])
    assert.deepStrictEqual(service["StateDirectory"], ["tocsin"])
    assert.strictEqual(environmentOf(readUnit(UNIT))["SERVICE_DATA_DIR"], "%S/tocsin")
  })

  it("allows the compiler of Node.js", () => {
    assert.isUndefined(service["MemoryDenyWriteExecute"])
    assert.deepStrictEqual(service["SystemCallFilter"], ["@system-service", "~@privileged @resources"])
  })

  it("allows more time to stop than the server takes, and restarts it after a failure", () => {
    assert.isAbove(Number.parseInt(service["TimeoutStopSec"]?.[0] ?? "", 10), 10)
    assert.deepStrictEqual(service["Restart"], ["on-failure"])
  })

  it("treats a server as started when it reports so, and kills one that stops reporting", () => {
    assert.deepStrictEqual([service["Type"], service["NotifyAccess"]], [["notify"], ["all"]])
    assert.deepStrictEqual(service["WatchdogSec"], ["60s"])
    // A notification that the server runs for systemd must not get its SIGTERM.
    assert.deepStrictEqual(service["KillMode"], ["mixed"])
    // A migration may take longer than systemd's minute and a half.
    assert.deepStrictEqual(service["TimeoutStartSec"], ["1h"])
  })

  it("keeps the generated token out of the journal", () => {
    assert.deepStrictEqual([service["StandardOutput"], service["StandardError"]], [["null"], ["journal"]])
  })

  it("allows the threads of a server", () => {
    // test/processes/threadPool.test.ts counts them.
    assert.isAbove(Number(service["TasksMax"]?.[0]), 2 * 23)
  })

  it("passes exactly its named secrets as files", () => {
    const dropIn = readUnit(DROP_IN)
    const loaded = (dropIn["Service"]?.["LoadCredential"] ?? []).map((line) => line.split(":")[0])
    const named = Object.entries(environmentOf(dropIn)).map(([name, path]) => {
      assert.match(name, /_FILE$/)
      return path.replace("%d/", "")
    })
    assert.sameMembers(named, loaded)
  })

  it.skipIf(!isThere)(`has no fault that systemd-analyze verify finds${reason}`, () => {
    const { all, ours } = verify(folder, "tocsin.service")
    assert.deepStrictEqual(ours, { passed: true, output: "" })
    assert.include(all, "Nonsense")
    writeFileSync(
      join(folder, "faulty.service"),
      readFileSync(copy, "utf8").replace("Type=notify", "Type=sometimes"),
    )
    assert.include(verify(folder, "faulty.service").ours.output, "service type")
  })

  it("backs up as the server's user, and deletes only after a backup", () => {
    const backup = readUnit("deploy/systemd/tocsin-backup.service")
    assert.deepStrictEqual(backup["Service"]?.["User"], service["User"])
    assert.deepStrictEqual(backup["Service"]?.["Type"], ["oneshot"])
    assert.match(backup["Service"]?.["ExecStart"]?.[0] ?? "", /tocsin\.mjs backup --force/)
    assert.match(backup["Service"]?.["ExecStartPost"]?.[0] ?? "", /-mtime \+13 -delete$/)
  })

  it.skipIf(!isThere)(`has a backup and its timer without a fault${reason}`, () => {
    for (const file of ["tocsin-backup.service", "tocsin-backup.timer"]) {
      const unit = join(folder, file)
      writeFileSync(unit, readFileSync(`deploy/systemd/${file}`, "utf8"))
    }
    for (const name of ["tocsin-backup.timer", "tocsin-backup.service"]) {
      assert.deepStrictEqual(verify(folder, name).ours, { passed: true, output: "" }, name)
    }
  })

  it.skipIf(!isThere)(`is exposed by at most ${MOST_EXPOSURE} of 10${reason}`, () => {
    const judged = (path: string) =>
      run(["security", "--offline=true", `--threshold=${MOST_EXPOSURE * 10}`, path])
    assert.isTrue(judged(copy).passed, judged(copy).output)
    const open = join(folder, "open.service")
    writeFileSync(
      open,
      readFileSync(copy, "utf8").replaceAll(/^(Protect|Private|Restrict|SystemCall).*\n/gm, ""),
    )
    assert.isFalse(judged(open).passed)
  })
})
