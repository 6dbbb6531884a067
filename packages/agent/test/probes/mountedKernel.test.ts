import { assert, describe, it } from "@effect/vitest"
import { AGENT } from "@tocsin/test/processes/program"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { release, tmpdir } from "node:os"
import { join } from "node:path"
import { lacking } from "../../../../scripts/programs.mjs"

const ISOLATOR = "unshare"
const runs = (program: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(program, args, { encoding: "utf8" }).status === 0

const [major = "", minor = ""] = release().split(".")
const kernel = Number(`${major}.${minor.padStart(2, "0")}`)

const obstacle =
  process.geteuid?.() !== 0
    ? "only root mounts"
    : !runs(ISOLATOR, "--mount", "true")
      ? "mounts cannot be made here"
      : !existsSync("/dev/loop-control")
        ? "there are no loop devices"
        : kernel < 6.15
          ? "Linux before 6.15 does not say what a private mount lost"
          : lacking("mkfs.ext4")

/** File systems of the kernel that runs this, in a namespace that ends with the script. */
const MOUNTS = `
set -e
for name in view failed below; do
  truncate -s 8M $name.img
  mkfs.ext4 -q $name.img
  mkdir $name
  mount -o loop,errors=remount-ro $name.img $name
done
# As ProtectSystem=strict of systemd shows it to a service.
mount -o remount,bind,ro view
for one in /sys/fs/ext4/loop*; do
  [ "$(cat /sys/block/\${one##*/}/loop/backing_file)" != "$PWD/failed.img" ] || echo test > $one/trigger_fs_error
done
mkdir below/nested
mount -t tmpfs -o size=1M nested below/nested
mount -t tmpfs -o size=0 over below
mkdir below/nested
# As ProtectHome=read-only mounts a folder that is none on the host.
mkdir home
mount --bind home home
exec "$@"
`

describe.skipIf(obstacle !== undefined)(
  `mounts of this kernel${obstacle === undefined ? "" : ` (skipped: ${obstacle})`}`,
  { timeout: 60_000 },
  () => {
    it("are judged by their file systems, and only where they can be seen", () => {
      const folder = mkdtempSync(join(tmpdir(), "tocsin-mounts-"))
      const at = (name: string) => join(folder, name)
      const any = "warning: '0:', critical: '0:', inodes: {critical: '0:'}"
      writeFileSync(
        at("config.yaml"),
        `server: http://127.0.0.1:9
checks:
  all: { disk: { ${any} } }
  failed: { disk: { mounts: ${at("failed")}, ${any} } }
  failed-mount: { mount: { mounts: ${at("failed")} } }
  hidden: { disk: { mounts: ${at("below/nested")}, ${any} } }
  home: { mount: { mounts: ${at("home")} } }
  limitless: { disk: { mounts: ${at("below")}, ${any} } }
  view: { disk: { mounts: ${at("view")}, ${any} } }
  view-mount: { mount: { mounts: ${at("view")}, writable: true } }
`,
      )
      const agent = [process.execPath, AGENT, "try", "--all", "--json"]
      const options = ["--config", at("config.yaml"), "--state", at("state")]
      const args = ["--mount", "sh", "-c", MOUNTS, "sh", ...agent, ...options]
      const { stdout, stderr } = spawnSync(ISOLATOR, args, { encoding: "utf8", cwd: folder })
      rmSync(folder, { recursive: true })
      const found = JSON.parse(stdout || "[]") as ReadonlyArray<{
        readonly check: string
        readonly output: string
      }>
      const said = new Map(found.map(({ check, output }) => [check, output]))
      assert.strictEqual(stderr, "")
      const failure = `${at("failed")} became read-only after an error`
      assert.include(said.get("all"), `DISK CRITICAL - ${failure}`)
      assert.deepStrictEqual(
        [said.get("failed"), said.get("failed-mount")],
        [`DISK CRITICAL - ${failure}`, `MOUNT CRITICAL - ${failure}`],
      )
      const none = `${at("below/nested")} cannot be examined: nothing is mounted there`
      assert.strictEqual(said.get("hidden"), `DISK CRITICAL - ${none}`)
      assert.strictEqual(said.get("home"), `MOUNT CRITICAL - ${at("home")} is not mounted`)
      assert.strictEqual(said.get("limitless"), `DISK OK - ${at("below")} has no limit`)
      assert.match(said.get("view") ?? "", /^DISK OK - .*\/view [\d.]+% free/)
      assert.strictEqual(said.get("view-mount"), `MOUNT OK - ${at("view")} mounted`)
    })
  },
)
