import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { whyNotIsolated } from "./Container.ts"
import { readUnit } from "./UnitFile.ts"

const PATIENCE_MILLIS = 120_000

const PACKER = "dpkg-deb"
const ISOLATOR = "unshare"

const isDebian = spawnSync(PACKER, ["--version"]).status === 0
const obstacle = isDebian ? whyNotIsolated() : "this is no Debian"

/** Installs, upgrades, removes and purges the package in a copy of this system that is thrown away. */
const SCRIPT = `
set -eu
mount -t tmpfs none "$SCRATCH"
mkdir "$SCRATCH/upper" "$SCRATCH/work" "$SCRATCH/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work" "$SCRATCH/root"
mount -t proc proc "$SCRATCH/root/proc"
mount --rbind /dev "$SCRATCH/root/dev"
mkdir "$SCRATCH/root/packages"
cp "$DEB" "$SCRATCH/root/packages/first.deb"
cp "$NODE" "$SCRATCH/root/usr/local/bin/node"
exec chroot "$SCRATCH/root" sh -euc '
  cd /packages
  agent() { setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent "$@"; }
  dpkg -i first.deb >/dev/null
  echo "state $(stat -c "%A %U %G" /var/lib/tocsin-agent)"
  agent check 2>&1 || true
  sed -i "s,^#server.*,server: http://127.0.0.1:8080," /etc/tocsin-agent/config.yaml
  agent check
  before=$(agent fingerprint)
  dpkg-deb -R first.deb second
  sed -i "s/^Version: .*/Version: 9.0.0/" second/DEBIAN/control
  echo "# another default" >> second/etc/tocsin-agent/config.yaml
  dpkg-deb -b second second.deb >/dev/null
  dpkg --force-confold -i second.deb >/dev/null 2>&1
  [ "$(agent fingerprint)" = "$before" ] && grep ^server: /etc/tocsin-agent/config.yaml
  dpkg -r tocsin-agent >/dev/null
  ls /etc/tocsin-agent/config.yaml /var/lib/tocsin-agent/key
  dpkg -P tocsin-agent >/dev/null
  ls -d /etc/tocsin-agent /var/lib/tocsin-agent 2>/dev/null || echo purged
  id tocsin-agent 2>/dev/null || echo no user
'`

describe("the agent's packages", { timeout: PATIENCE_MILLIS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  beforeAll(() => {
    const build = pathToFileURL(resolve("scripts/build/buildAgent.ts")).href
    const program = `import { buildAgent } from ${JSON.stringify(build)}; await buildAgent(process.cwd(), ${JSON.stringify(folder)})`
    execFileSync(process.execPath, ["--input-type=module", "--eval", program])
  }, PATIENCE_MILLIS)
  afterAll(() => rmSync(folder, { recursive: true }))

  it("are one file that runs by itself", () => {
    const output = execFileSync(process.execPath, [join(folder, "agent/tocsin-agent.mjs"), "--help"], {
      encoding: "utf8",
      cwd: tmpdir(),
    })
    assert.include(output, "tocsin-agent start")
  })

  it.skipIf(obstacle !== undefined)(
    `are installed, upgraded, removed and purged on Debian${obstacle === undefined ? "" : ` (${obstacle})`}`,
    () => {
      const deb = readdirSync(join(folder, "agent")).find((name) => name.endsWith(".deb")) ?? ""
      const scratch = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
      const env = {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        DEB: join(folder, "agent", deb),
        NODE: process.execPath,
        SCRATCH: scratch,
      }
      // Its mounts end with its namespace.
      const { stdout, stderr } = spawnSync(ISOLATOR, ["--mount", "sh", "-c", SCRIPT], {
        encoding: "utf8",
        env,
      })
      rmSync(scratch, { recursive: true })
      assert.deepStrictEqual(
        stdout.trim().split("\n"),
        [
          "state drwxrws--T tocsin-agent tocsin-agent",
          "tocsin-agent: /etc/tocsin-agent/config.yaml:8: must have server: the address of the Tocsin server",
          "/etc/tocsin-agent/config.yaml: 4 checks, no problems",
          "server: http://127.0.0.1:8080",
          "/etc/tocsin-agent/config.yaml",
          "/var/lib/tocsin-agent/key",
          "purged",
          "no user",
        ],
        stderr,
      )
    },
  )
})

describe("the agent's systemd unit", () => {
  const service = readUnit("deploy/agent/tocsin-agent.service")["Service"] ?? {}

  it("counts as started when the agent says so, and is restarted when it hangs", () => {
    assert.deepStrictEqual([service["Type"], service["NotifyAccess"]], [["notify"], ["all"]])
    assert.deepStrictEqual([service["WatchdogSec"], service["Restart"]], [["60s"], ["on-failure"]])
  })

  it("allows the compiler of Node.js, and gives checks no privileges", () => {
    assert.isUndefined(service["MemoryDenyWriteExecute"])
    assert.deepStrictEqual([service["NoNewPrivileges"], service["CapabilityBoundingSet"]], [["yes"], [""]])
  })
})
