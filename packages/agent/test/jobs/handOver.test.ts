import { assert, describe, it } from "@effect/vitest"
import { AGENT } from "@tocsin/test/processes/program"
import { spawnSync } from "node:child_process"
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"
import { lacking } from "../../../../scripts/programs.mjs"

/** Debian sets 2 at each start (procps 4.0), systemd sets 1; the kernel itself has 0. */
const PROTECTION = "/proc/sys/fs/protected_regular"
const [RIGHTS_CHANGER, PIPE_MAKER] = ["setpriv", "mkfifo"]
const [AGENT_USER, MEMBER] = [40_001, 40_002]

const mayWrite = (file: string): boolean => {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const isRoot = process.geteuid?.() === 0 && lacking("setpriv") === undefined
const why = isRoot ? "" : " (skipped: only root, with setpriv, can be two users)"
const settings = isRoot && mayWrite(PROTECTION) ? ["0", "1", "2"] : ["as it is"]

/** A folder as the package makes it, and its users. */
class SharedHost {
  readonly root = mkdtempSync(join(tmpdir(), "tocsin-shared-"))
  readonly state = join(this.root, "state")
  readonly spool = join(this.state, "spool")
  readonly #former = mayWrite(PROTECTION) ? readFileSync(PROTECTION, "utf8") : undefined

  constructor(setting: string) {
    chmodSync(this.root, 0o711)
    for (const [folder, mode] of [
      [this.state, 0o2710],
      [this.spool, 0o3770],
    ] as const) {
      mkdirSync(folder)
      chownSync(folder, AGENT_USER, AGENT_USER)
      chmodSync(folder, mode)
    }
    if (setting.length === 1) writeFileSync(PROTECTION, setting)
  }

  as(user: number, command: string, ...args: ReadonlyArray<string>) {
    const rights = [`--reuid=${user}`, `--regid=${user}`, `--groups=${AGENT_USER}`]
    const flags = ["--config", "/dev/null", "--state", this.state]
    const all = [...rights, process.execPath, AGENT, command, ...flags, ...args]
    const { status, stdout, stderr } = spawnSync(RIGHTS_CHANGER, all, { encoding: "utf8" })
    return { status, stdout, stderr }
  }

  /** Shows it to the agent's user, after which everything is that user's. */
  status(): { readonly backlog: number; readonly rejected: number } {
    const { stdout, stderr } = this.as(AGENT_USER, "status", "--json")
    assert.strictEqual(stderr, "")
    assert.deepStrictEqual(
      this.owners().filter(([, owner]) => owner !== AGENT_USER),
      [],
    )
    return JSON.parse(stdout) as { readonly backlog: number; readonly rejected: number }
  }

  owners(): ReadonlyArray<readonly [string, number]> {
    return readdirSync(this.spool).map((name) => [name, statSync(join(this.spool, name)).uid])
  }

  kept() {
    using file = SpoolFile.open(join(this.spool, "spool.db"))
    const all = file.oldest(100).map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
    return {
      notes: [...file.notes()],
      results: all.map((one) => `${String(one["check_id"])} ${String(one["status"])}`),
    }
  }

  [Symbol.dispose](): void {
    if (this.#former !== undefined) writeFileSync(PROTECTION, this.#former)
    rmSync(this.root, { recursive: true })
  }
}

describe.skipIf(!isRoot)(`a member of the agent's group${why}`, { timeout: 120_000 }, () => {
  it.each(settings)("reports before the agent has made its spool, fs.protected_regular %s", (setting) => {
    using host = new SharedHost(setting)
    assert.deepStrictEqual(host.as(MEMBER, "report", "job", "critical", "x".repeat(9_000)), {
      status: 0,
      stdout: "",
      stderr: "",
    })
    assert.strictEqual(host.as(MEMBER, "run", "job", "--no-overlap", "--", "true").stderr, "")
    assert.deepStrictEqual(
      host.owners().filter(([name]) => name.startsWith("spool.db")),
      [],
      "a member makes no spool",
    )
    assert.strictEqual(host.as(AGENT_USER, "report", "disk", "ok").stderr, "")
    assert.deepInclude(host.status(), { backlog: 3, rejected: 0 })
    assert.deepStrictEqual(host.kept(), { notes: [], results: ["job critical", "job ok", "disk ok"] })
    // The files beside the spool, which a reader makes, are the agent's too.
    assert.strictEqual(host.as(MEMBER, "try", "job").stderr.includes("readonly"), false)
    assert.strictEqual(host.as(MEMBER, "report", "job", "ok").status, 0)
    assert.deepInclude(host.status(), { backlog: 4 })
  })

  it.each(settings)(
    "left a spool and its log, made by a former agent, fs.protected_regular %s",
    (setting) => {
      using host = new SharedHost(setting)
      const former = join(host.root, "former.db")
      using open = SpoolFile.open(former)
      const terms = { durationMillis: 0, output: "", notificationsEnabled: true }
      const report = { checkId: "job", status: "warning", exitCode: 1, ...terms } as const
      open.write({ add: [{ report, id: "1", at: 0 }] })
      for (const suffix of ["", "-wal", "-shm"]) {
        const made = join(host.spool, `spool.db${suffix}`)
        copyFileSync(former + suffix, made)
        chownSync(made, MEMBER, AGENT_USER)
        chmodSync(made, 0o660)
      }
      assert.deepInclude(host.status(), { backlog: 1 })
      assert.strictEqual(host.as(AGENT_USER, "report", "job", "ok").stderr, "")
      assert.deepStrictEqual(host.kept().results, ["job warning", "job ok"])
    },
  )

  it("does not run a job beside another member's run of it", async () => {
    using host = new SharedHost("2")
    const run = ["job", "--no-overlap", "--", "sh", "-c"]
    // The second run begins within the first, so it needs no waiting.
    const args = ["--config", "/dev/null", "--state", host.state, ...run, "echo never"]
    const inner = [process.execPath, AGENT, "run", ...args].map((one) => `'${one}'`).join(" ")
    const outer = host.as(MEMBER, "run", ...run, `${inner}; echo $?`)
    assert.deepStrictEqual([outer.status, outer.stdout], [0, "75\n"])
    assert.deepInclude(host.status(), { backlog: 2 })
    assert.deepStrictEqual(host.kept(), { notes: [], results: ["job warning", "job ok"] })
  })

  it("hands over nothing that stops the agent, or shows it a file of others", () => {
    using host = new SharedHost("2")
    const name = (index: number) =>
      join(
        host.spool,
        `handed-aaaaaaaa-${String(index).padStart(15, "0")}-${"0".repeat(8)}-0000-7000-8000-${String(index).padStart(12, "0")}.json`,
      )
    const good = {
      checkId: "job",
      status: "ok",
      exitCode: 0,
      durationMillis: 1,
      output: "fine",
      notificationsEnabled: true,
    }
    const moment = { wall: 0, sinceBoot: 1, boot: "b" }
    const bad: ReadonlyArray<string> = [
      "",
      "{",
      "[]",
      "null",
      JSON.stringify({ ...moment, report: { ...good, status: "fine" } }),
      JSON.stringify({ ...moment, report: { ...good, checkId: "a b" } }),
      JSON.stringify({ ...moment, wall: 1e300, report: good }),
      JSON.stringify({ ...moment, report: good, more: 1 }),
      " ".repeat(200_000),
    ]
    bad.forEach((text, index) => writeFileSync(name(index), text))
    symlinkSync("/etc/shadow", name(20))
    mkdirSync(name(21))
    spawnSync(PIPE_MAKER, [name(22)])
    writeFileSync(name(23), JSON.stringify({ ...moment, run: "configured", note: "not a run" }))
    writeFileSync(name(24), JSON.stringify({ ...moment, report: good }))
    for (const [file] of host.owners().filter(([file]) => !file.includes("20.json")))
      chownSync(join(host.spool, file), MEMBER, AGENT_USER)
    for (const index of bad.keys()) chmodSync(name(index), 0o640)
    chmodSync(name(23), 0o640)
    chmodSync(name(24), 0o640)
    const { stdout, stderr } = host.as(AGENT_USER, "status", "--json")
    assert.strictEqual(stderr, "")
    assert.deepInclude(JSON.parse(stdout), { backlog: 1, rejected: bad.length + 2 })
    assert.deepStrictEqual(host.kept(), {
      notes: [["rejected", String(bad.length + 2)]],
      results: ["job ok"],
    })
  })
})
