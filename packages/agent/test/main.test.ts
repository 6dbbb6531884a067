import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import { freePort } from "@tocsin/bench/processes/freePort"
import { AGENT } from "@tocsin/test/processes/program"
import { FaultyServer } from "@tocsin/testing/agents/FaultyServer"
import { serve } from "@tocsin/testing/agents/serve"
import { USAGE } from "../src/commands/commandLine.ts"
import { SpoolFile } from "../src/spool/SpoolFile.ts"
import { until } from "./commands/AgentHost.ts"

const PATIENCE_MILLIS = 150_000

const server = new FaultyServer()
let root = ""
let address = ""
let stopServing = async (): Promise<void> => {}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  server.now = () => new Date().getTime()
  const served = await serve(server)
  address = served.address
  stopServing = served.close
})

afterAll(async () => {
  await stopServing()
  rmSync(root, { recursive: true })
})

describe("help", () => {
  it.each([
    ["--help"],
    ["start", "--help"],
    ["check", "-h"],
    ["try", "--help"],
    ["status", "--help"],
    ["fingerprint", "--help"],
    ["rotate", "--help"],
    ["report", "--help"],
    ["run", "--help"],
    ["run", "backup", "--help", "--", "true"],
    ["import", "--help"],
  ])("is printed by %s %s", (...args) => {
    const { status, stdout } = spawnSync(process.execPath, [AGENT, ...args], { encoding: "utf8" })
    assert.deepStrictEqual([status, stdout], [0, `${USAGE}\n`])
  })

  it("is not meant behind --", () => {
    const job = ["run", "backup", "--state", join(root, "help"), "--", process.execPath, "-e", "", "--help"]
    const { stdout } = spawnSync(process.execPath, [AGENT, ...job], { encoding: "utf8" })
    assert.notInclude(stdout, USAGE)
  })
})

/** A host with a configuration and a state folder of its own. */
const makeHost = (name: string, checks: string) => {
  const folder = join(root, name)
  mkdirSync(folder)
  const write = (text: string) => writeFileSync(join(folder, "config.yaml"), text)
  write(`server: ${address}\nagent_id: ${name}\nchecks:\n${checks}`)
  const state = join(folder, "state")
  const flags = ["--config", join(folder, "config.yaml"), "--state", state]
  return {
    state,
    flags,
    write,
    run: (command: string, ...args: ReadonlyArray<string>) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [AGENT, command, ...flags, ...args], {
        encoding: "utf8",
      })
      return { status, stdout, stderr }
    },
    start: (around: ReadonlyArray<string> = []) => {
      const [program = "", ...args] = [...around, process.execPath, AGENT, "start", ...flags]
      const child = spawn(program, args, {
        stdio: ["ignore", "ignore", "pipe"],
      })
      const log = { text: "" }
      child.stderr.on("data", (chunk: Buffer) => (log.text += chunk.toString()))
      return { child, log }
    },
  }
}

const endOf = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  child.kill(signal)
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  return child.exitCode
}

const PIPE_MAKER = "mkfifo"
const ISOLATOR = "unshare"
/** A command that starts a program on its own file system of one MiB, in a folder that it names. */
const SMALL_DISK = [ISOLATOR, "--mount", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"']
const isRoot = spawnSync(ISOLATOR, ["--mount", "true"]).status === 0

/** Whether the last declaration names a check. */
const declares = (check: string): boolean =>
  server.requests.findLast(({ kind }) => kind === "declaration")?.body.includes(`"${check}"`) === true

const changesOf = (check: string): ReadonlyArray<string> => server.changes.get(check) ?? []

describe("tocsin-agent", { timeout: 2 * PATIENCE_MILLIS }, () => {
  it.skipIf(!isRoot)(
    `asks for an init where it is process 1, as in a container${isRoot ? "" : " (skipped: only root can)"}`,
    async () => {
      const { start } = makeHost("contained", "  up: { shell: 'echo up' }\n")
      const { child, log } = start([ISOLATOR, "--pid", "--fork", "--kill-child"])
      await until("it has started", () => log.text.includes("started as contained"))
      assert.include(log.text, "start it under an init, such as tini or docker run --init")
      await endOf(child, "SIGKILL")
    },
  )

  it("reads its configuration again where it is asked to while it starts", async () => {
    const { flags, start } = makeHost("early", "  up: { shell: 'echo up' }\n")
    const [, config = ""] = flags
    const text = readFileSync(config, "utf8")
    rmSync(config)
    assert.strictEqual(spawnSync(PIPE_MAKER, [config]).status, 0)
    const { child, log } = start()
    // Opens once the agent reads the pipe.
    const pipe = await open(config, "w")
    rmSync(config)
    writeFileSync(config, `${text}  down: { shell: 'echo down' }\n`)
    child.kill("SIGHUP")
    await pipe.writeFile(text)
    await pipe.close()
    await until(
      "it is reloaded, or ended",
      () => log.text.includes("reloaded: 2 checks") || child.exitCode !== null || child.signalCode !== null,
    )
    assert.include(log.text, "started as early with 1 check\n")
    assert.strictEqual(await endOf(child, "SIGTERM"), 0)
  })

  it("delivers what jobs reported without it, in order, once, although it is killed again and again", async () => {
    const { run, start, state } = makeHost("killed", "  up: { shell: 'echo up', every: 1s }\n")
    server.fault = "500"
    for (const status of ["critical", "ok", "warning"])
      assert.strictEqual(run("report", "backup", status, "said").status, 0)
    const first = start()
    await until("the first answer", () => first.log.text.includes("results wait"))
    assert.strictEqual(run("report", "backup", "ok").status, 0)
    const second = start()
    await once(second.child, "exit")
    assert.strictEqual(second.child.exitCode, 1)
    assert.include(second.log.text, "another agent runs on")
    await endOf(first.child, "SIGKILL")
    server.fault = "lost"
    const third = start()
    await until("a batch was applied", () => changesOf("backup").length > 0)
    await endOf(third.child, "SIGKILL")
    server.fault = "none"
    const fourth = start()
    await until(
      "its own run arrives",
      () => changesOf("up").length > 0 && fourth.log.text.includes("accepts what is sent"),
    )
    assert.deepStrictEqual(changesOf("backup"), ["critical 2", "ok 0", "warning 1", "ok 0"])
    assert.strictEqual(await endOf(fourth.child, "SIGTERM"), 0)
    assert.strictEqual(statSync(join(state, "key")).mode & 0o777, 0o600)
    const { admission, running } = JSON.parse(run("status", "--json").stdout) as Record<string, unknown>
    assert.deepStrictEqual([admission, running], ["accepted", false])
  })

  it("wraps a job without ever failing it", async () => {
    const { flags, run, state, write } = makeHost("jobs", "  nightly: { report_only: true, every: 1d }\n")
    const backlog = () => {
      const shown = JSON.parse(run("status", "--json").stdout) as { readonly backlog: number }
      return shown.backlog
    }
    const said = run("run", "nightly", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert.deepStrictEqual(said, { status: 7, stdout: "out\n", stderr: "err\n" })
    assert.strictEqual(run("run", "nightly", "--", "/no/such").status, 127)
    assert.strictEqual(run("run", "nightly", "--", "/etc/passwd").status, 126)
    assert.strictEqual(run("run", "nightly", "--", "sh", "-c", "kill -KILL $$").status, 137)
    assert.strictEqual(run("run", "not a name", "--", "true").status, 0)
    run("run", "long", "--", "sh", "-c", "head -c 20000 /dev/zero | tr '\\0' x; echo")
    const file = SpoolFile.open(join(state, "spool.db"))
    assert.match(file.oldest(100).at(-1)?.body ?? "", /"output":"\.\.\.\[truncated 12001 bytes\]\\nx{7999}"/)
    file.close()
    // A job may start something that goes on: its own end is reported then, and all output passed on.
    const going = join(state, "../going")
    const background = `(while [ -e ${going} ]; do sleep 0.1; done; echo later) & echo done`
    writeFileSync(going, "")
    const before = backlog()
    const restarting = spawn(process.execPath, [
      AGENT,
      "run",
      ...flags,
      "restart",
      "--",
      "sh",
      "-c",
      background,
    ])
    const passed = { text: "" }
    restarting.stdout.on("data", (chunk: Buffer) => (passed.text += chunk.toString()))
    await until("the end of the job is kept", () => backlog() === before + 1)
    rmSync(going)
    await once(restarting, "close")
    assert.deepStrictEqual([restarting.exitCode, passed.text], [0, "done\nlater\n"])
    write("server: [nowhere")
    const kept = backlog()
    assert.strictEqual(run("report", "other", "critical").status, 0)
    assert.deepStrictEqual(run("run", "third", "--", "sh", "-c", "echo out; exit 2"), {
      status: 2,
      stdout: "out\n",
      stderr: "",
    })
    assert.strictEqual(backlog(), kept + 2)
    rmSync(state, { recursive: true })
    writeFileSync(state, "not a folder")
    const lost = run("run", "nightly", "--", "sh", "-c", "echo out; exit 3")
    assert.deepStrictEqual([lost.status, lost.stdout], [3, "out\n"])
    assert.include(lost.stderr, "the result is not reported")
    assert.strictEqual(run("report", "nightly", "fine").status, 64)
  })

  it("opens no debugger on SIGUSR1, and passes it on to a job", async () => {
    const { flags, start } = makeHost("debugged", "  up: { shell: 'echo up' }\n")
    const { child, log } = start()
    await until("it has started", () => log.text.includes("started as debugged"))
    for (const reloads of [1, 2]) {
      child.kill("SIGUSR1")
      child.kill("SIGHUP")
      await until("it is reloaded, or ended", () => {
        return log.text.split("reloaded").length > reloads || child.exitCode !== null
      })
    }
    assert.strictEqual(await endOf(child, "SIGTERM"), 0)
    assert.notInclude(log.text, "Debugger")
    const script = "trap 'echo got it; exit 5' USR1; echo ready; while :; do sleep 0.05; done"
    const args = ["run", ...flags, "job", "--", "sh", "-c", script]
    const wrapper = spawn(process.execPath, [AGENT, ...args])
    const said = { text: "" }
    for (const stream of [wrapper.stdout, wrapper.stderr])
      stream.on("data", (chunk: Buffer) => (said.text += chunk.toString()))
    await until("the job runs", () => said.text.includes("ready"))
    const closed = once(wrapper, "close")
    wrapper.kill("SIGUSR1")
    await until("the signal had an effect", () => /got it|Debugger/.test(said.text))
    assert.strictEqual(said.text, "ready\ngot it\n")
    await closed
    assert.strictEqual(wrapper.exitCode, 5)
  })

  it("reports a job that started and was lost with its wrapper", async () => {
    server.fault = "none"
    const { flags, start, state } = makeHost("lost", "  nightly: { report_only: true, every: 1d }\n")
    const args = [AGENT, "run", ...flags, "nightly", "--", "sh", "-c", "echo $$; exec sleep 120"]
    const wrapper = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    const said = { text: "" }
    wrapper.stdout.on("data", (chunk: Buffer) => (said.text += chunk.toString()))
    await until("its start is kept", () => {
      if (!said.text.includes("\n")) return false
      using file = SpoolFile.open(join(state, "spool.db"))
      return file.notes().size > 0
    })
    wrapper.kill("SIGKILL")
    process.kill(Number(said.text), "SIGKILL")
    await once(wrapper, "close")
    const { child } = start()
    await until("the agent reports it", () => changesOf("nightly").length > 0)
    assert.deepStrictEqual(changesOf("nightly"), ["critical 255"])
    assert.strictEqual(await endOf(child, "SIGTERM"), 0)
  })

  it("sets a damaged spool aside, and reloads a configuration only if it is valid", async () => {
    server.fault = "none"
    const { run, start, state, write } = makeHost("damaged", "  one: { shell: 'exit 1', every: 1s }\n")
    run("report", "backup2", "critical")
    writeFileSync(
      join(state, "spool.db"),
      "this is no database, and long enough to be looked at as one".repeat(100),
    )
    const { child, log } = start()
    await until("it reports", () => changesOf("one").length > 0)
    assert.include(log.text, "is damaged")
    assert.isAbove(readdirSync(state).filter((name) => name.includes(".damaged-")).length, 0)
    write("server: nowhere\n")
    child.kill("SIGHUP")
    await until("it refuses", () => log.text.includes("the former one stays in force"))
    const port = await freePort()
    write(
      `server: ${address}\nagent_id: damaged\nmetrics_port: ${port}\nchecks:\n  two: { shell: 'exit 2', every: 1s }\n`,
    )
    child.kill("SIGHUP")
    await until("it reports the new check", () => changesOf("two").length > 0)
    await until("it declares its checks again", () => declares("two"))
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    assert.include(metrics.headers.get("content-type"), "text/plain; version=0.0.4")
    const page = await metrics.text()
    assert.include(page, 'tocsin_agent_check_status{check="two"} 2\n')
    assert.notInclude(page, 'check="one"', "the former configuration's")
    assert.strictEqual((await fetch(`http://127.0.0.1:${port}/`)).status, 404)
    assert.strictEqual(await endOf(child, "SIGTERM"), 0)
  })

  it("prints a configuration that it reads as the same again", () => {
    const { run, state, write } = makeHost("printed", "")
    const [certificate = ""] = rootCertificates
    writeFileSync(join(state, "../ca.pem"), certificate)
    write(
      [
        `server: [${address}, https://b.example]`,
        "ca_file: ca.pem",
        "labels: { role: web }",
        "metrics_port: 9465",
        "defaults: { every: 90s, env: { A: '1' }, confirm: { bad: 2 }, grace: 5m, severity: warning }",
        "checks:",
        "  shell: { shell: 'exit 1', env: { B: x }, incident_key: a b }",
        "  http: { http: { url: 'http://a', status: 200, days: { warning: 20 }, wait: 2s, critical: 5 } }",
        "  disk: { disk: { mounts: [/], inodes: { critical: '2:' } } }",
        "  load: { load: { warning: '4,3,2', critical: 8 } }",
        "  backup: { report_only: true, cron: '0 3 * * *', tz: Europe/Berlin }",
        "  job: { report_only: true, every: 1d, notifications_enabled: false, labels: { team: db } }",
      ].join("\n"),
    )
    const printed = run("check", "--print").stdout
    assert.include(printed, `ca_file: ${join(root, "printed", "ca.pem")}\n`)
    assert.include(printed, "    labels:\n      team: db\n")
    write(printed)
    assert.deepStrictEqual(run("check", "--print"), { status: 0, stdout: printed, stderr: "" })
  })

  it("shows nothing that a terminal acts on, whatever is in the spool", () => {
    const { run, state } = makeHost("shown", "")
    run("fingerprint")
    const file = SpoolFile.open(join(state, "spool.db"))
    const message = "no\u001b[2J\nagent running\u009b31m"
    const notes = { admission: "\u001b[31m", last_answer: JSON.stringify({ at: "\u0007", message }) }
    file.write({ add: [], notes: new Map(Object.entries(notes)) })
    file.close()
    const { stdout } = run("status")
    assert.include(stdout, "last answer   no agent running\n")
    for (const shown of [stdout, run("status", "--json").stdout]) assert.notMatch(shown, /(?!\n)\p{Cc}/u)
    assert.strictEqual(run("report", "\u001b[2J", "ok").stderr.includes("\u001b"), false)
    assert.strictEqual(run("\u001b[2J").stderr.includes("\u001b"), false)
  })

  it.skipIf(!isRoot)(
    `makes what the agent can use when root runs a command${isRoot ? "" : " (skipped: only root can)"}`,
    () => {
      const { run, state } = makeHost("as-root", "  job: { report_only: true, every: 1d }\n")
      const [agent, group] = [40_001, 40_002]
      mkdirSync(state)
      chownSync(state, agent, group)
      chmodSync(root, 0o711)
      assert.strictEqual(run("report", "job", "ok").stderr, "")
      for (const command of ["fingerprint", "rotate", "status"]) assert.strictEqual(run(command).status, 0)
      // A job itself keeps the rights of its caller.
      assert.deepStrictEqual(run("run", "job", "--", "id", "-u"), { status: 0, stdout: "0\n", stderr: "" })
      const owners = readdirSync(state).map((name) => {
        const { uid, gid } = statSync(join(state, name))
        return [name, uid, gid]
      })
      assert.deepStrictEqual(
        owners.toSorted(),
        ["agent.lock", "key", "key.next", "spool.db"].map((name) => [name, agent, group]),
      )
    },
  )

  it.skipIf(!isRoot)(
    `sends from memory while its disk is full${isRoot ? "" : " (skipped: only root can make a small disk)"}`,
    async () => {
      server.fault = "none"
      const { start, state, write } = makeHost("full", "")
      const code = join(state, "../code")
      const configuration = `server: ${address}\nagent_id: full\nchecks:\n  level: { shell: 'exit $(cat ${code})', every: 1s }\n`
      write(configuration)
      writeFileSync(code, "0")
      mkdirSync(state)
      const first = start([...SMALL_DISK, state])
      const arrives = (change: string) => until(change, () => changesOf("level").at(-1) === change)
      await arrives("ok 0")
      // Keeps that disk, which only the agent sees, beyond the agent.
      const onDisk = (pid = 0) => ["nsenter", "--mount", `--target=${pid}`]
      const [nsenter = "", ...intoDisk] = onDisk(first.child.pid)
      const keeper = spawn(nsenter, [...intoDisk, "sleep", "infinity"], { stdio: "ignore" })
      const inside = `/proc/${keeper.pid}/root${state}`
      const filler = join(inside, "filler")
      await until("the keeper has the disk", () => existsSync(join(inside, "spool.db")))
      assert.throws(() => writeFileSync(filler, "x".repeat(2_000_000)), "ENOSPC")
      writeFileSync(code, "2")
      await arrives("critical 2")
      assert.include(first.log.text, "results wait in memory")
      // An agent that starts on a full disk says what it sees too.
      await endOf(first.child, "SIGKILL")
      writeFileSync(code, "1")
      const { child, log } = start(onDisk(keeper.pid))
      await arrives("warning 1")
      // Nothing may be lost that was recorded while neither the disk nor the server took it.
      server.fault = "500"
      writeFileSync(code, "2")
      await until("results wait", () => log.text.includes("results wait: 500"))
      rmSync(filler)
      server.fault = "none"
      child.kill("SIGHUP")
      await arrives("critical 2")
      writeFileSync(code, "0")
      await arrives("ok 0")
      assert.strictEqual(spawnSync("ls", [join(inside, "spool.db")]).status, 0)
      assert.deepStrictEqual(changesOf("level"), ["ok 0", "critical 2", "warning 1", "critical 2", "ok 0"])
      assert.strictEqual(await endOf(child, "SIGTERM"), 0)
      keeper.kill()
    },
  )
})
