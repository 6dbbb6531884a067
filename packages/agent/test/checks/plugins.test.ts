import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { AT_LENGTH } from "../../../../test/properties/atLength.ts"
import { lacking, programPath } from "../../../../scripts/programs.mjs"
import { systemClock } from "../../src/clock/Clock.ts"
import { runCommand } from "../../src/checks/runCommand.ts"

const without = lacking("plugins")
const FOLDER = dirname(programPath("plugins") ?? "/none")
const SHELL = "/bin/sh"
const PATIENCE_MILLIS = 600_000
/** A port of this host that refuses connections. */
const CLOSED = ["-H", "127.0.0.1", "-p", "9"]

/** Plugins that do something without a network, and how to call them. The others print their help. */
const CALLS: ReadonlyArray<readonly [plugin: string, ...args: ReadonlyArray<string>]> = [
  ["check_dummy", "0", "all is well"],
  ["check_dummy", "1", "Größe: 3 | size=3;2;4"],
  ["check_dummy", "2"],
  // More than is kept.
  ["check_dummy", "0", "ü".repeat(40_000)],
  ["check_dummy", "3"],
  ["check_dummy", "7"],
  ["check_load", "-w", "900,900,900", "-c", "999,999,999"],
  ["check_load", "-w", "0,0,0", "-c", "999,999,999"],
  ["check_disk", "-w", "0%", "-c", "0%", "-p", "/"],
  ["check_disk", "-w", "101%", "-c", "0%", "-p", "/"],
  ["check_disk", "-w", "1%", "-c", "0%", "-p", "/no/such"],
  ["check_swap", "-w", "0%", "-c", "0%"],
  ["check_users", "-w", "500", "-c", "1000"],
  ["check_procs", "-c", "1:", "-C", "no-such-program"],
  ["check_file_age", "-f", "/etc/passwd", "-w", "1", "-c", "999999999999"],
  ["check_file_age", "-f", "/no/such"],
  ["check_log", "-F", "/etc/passwd", "-O", "old", "-q", "root"],
  ["check_cluster", "-s", "-d", "0,2,0", "-c", "@1:"],
  ["check_mrtg", "-F", "/etc/passwd", "-a", "AVG", "-v", "1", "-w", "1", "-c", "2"],
  ["check_nagios", "-F", "/etc/passwd", "-e", "5", "-C", "no-such-program"],
  ["check_ide_smart", "-d", "/dev/no-such-disk"],
  ["check_sensors"],
  ["check_tcp", ...CLOSED],
  ["check_http", ...CLOSED],
  ["check_smtp", ...CLOSED],
  ["check_udp", ...CLOSED, "-s", "a", "-e", "b"],
  ["check_ssh", "-p", "9", "127.0.0.1"],
  ["negate", `${FOLDER}/check_dummy`, "0"],
  ["urlize", "http://localhost", `${FOLDER}/check_dummy`, "1"],
]

const plugins = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((name) => !name.startsWith("utils."))
  : ([] as ReadonlyArray<string>)
/** Of plugins that print their help alone, every run takes a sample: Debian has hundreds. */
const ONE_OF = 6
const known = new Set(CALLS.map(([plugin]) => plugin))
const calls = [
  ...CALLS.filter(([plugin]) => plugins.includes(plugin)),
  ...plugins
    .filter((plugin, place) => !known.has(plugin) && (AT_LENGTH || place % ONE_OF === 0))
    .map((plugin) => [plugin, "--help"] as const),
]

const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" }

/** Figures of two runs differ: the load, the time, free space. */
const withoutFigures = (text: string): string => text.replaceAll(/\d+(?:\.\d+)?/g, "0")

describe.skipIf(without !== undefined)(
  `real plugins${without === undefined ? "" : ` (skipped: ${without})`}`,
  { timeout: PATIENCE_MILLIS },
  () => {
    it("have the result that a shell sees", async () => {
      const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
      const seen = new Set<string>()
      // One after another, because plugins that count processes would see each other.
      for (const [plugin, ...args] of calls) {
        const argv = [join(FOLDER, plugin), ...args]
        const script = 'cd "$0" && "$@"'
        rmSync(join(folder, "old"), { force: true })
        const shell = spawnSync(SHELL, ["-c", script, folder, ...argv], { env, encoding: "utf8" })
        rmSync(join(folder, "old"), { force: true })
        const result = await runCommand({ argv, env, cwd: folder, timeoutMillis: 30_000 }, systemClock)
          .outcome
        const words = argv.join(" ")
        const status = ["ok", "warning", "critical"][shell.status ?? -1] ?? "unknown"
        assert.deepStrictEqual([result.status, result.exitCode], [status, shell.status], words)
        seen.add(status)
        // The shell has words of its own where a signal ends a plugin, or its interpreter is missing.
        if (result.exitCode >= 126) continue
        const said = shell.stdout.trim() === "" ? shell.stderr : shell.stdout
        const kept = Buffer.from(said)
          .subarray(0, Buffer.byteLength(said) - result.droppedBytes)
          .toString()
          .replace(/\uFFFD$/, "")
        assert.strictEqual(withoutFigures(result.output), withoutFigures(kept.replace(/[\r\n]+$/, "")), words)
      }
      assert.deepStrictEqual(seen, new Set(["ok", "warning", "critical", "unknown"]))
      rmSync(folder, { recursive: true })
    })
  },
)
