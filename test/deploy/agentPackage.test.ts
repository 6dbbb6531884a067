import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
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

/** Runs a script with the package in a copy of this system that is thrown away. */
const onDebian = (script: string) => `
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
  state=/var/lib/tocsin-agent
  upgrade() {
    rm -rf second
    dpkg-deb -R first.deb second
    sed -i "s/^Version: .*/Version: 9.0.0/" second/DEBIAN/control
    echo "# another default" >> second/etc/tocsin-agent/config.yaml
    dpkg-deb -b second second.deb >/dev/null
    dpkg --force-confold -i second.deb >/dev/null 2>&1
  }
  agent() { setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent "$@"; }
  dpkg -i first.deb >/dev/null
${script}
'`

/** The answers to a user without rights for the commands of {@link LIFE}. */
const refusals = [
  "EACCES: permission denied, stat '/var/lib/tocsin-agent/spool.db'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/key.unfinished'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/key.unfinished'",
  "EACCES: permission denied, lstat '/var/lib/tocsin-agent/spool.db'",
  "the result is not reported: EACCES: permission denied, lstat '/var/lib/tocsin-agent/spool.db'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/agent.lock'",
].map(
  (message) =>
    `tocsin-agent: ${message}: run it as root or as the owner of the state folder, on a disk that is not read-only; report and run also work in the folder's group`,
)

const LIFE = `
  mkdir -p /run/systemd/system
  ln -s /bin/true /usr/local/bin/systemctl
  sh /var/lib/dpkg/info/tocsin-agent.postinst configure
  sed -i "s,^#server.*,server: http://127.0.0.1:8080," /etc/tocsin-agent/config.yaml
  agent check
  stat -c "%a %U %G" /etc/tocsin-agent/config.yaml
  # As the former package installed it.
  chmod 644 /etc/tocsin-agent/config.yaml
  chown root:root /etc/tocsin-agent/config.yaml
  before=$(agent fingerprint)
  for command in status fingerprint rotate "report job ok" "run job -- true" start; do
    setpriv --reuid=nobody --regid=nogroup --clear-groups tocsin-agent $command 2>&1 || true
  done
  upgrade
  stat -c "%a %U %G" /etc/tocsin-agent/config.yaml
  [ "$(agent fingerprint)" = "$before" ] && grep ^server: /etc/tocsin-agent/config.yaml
  dpkg -r tocsin-agent >/dev/null
  ls /etc/tocsin-agent/config.yaml /var/lib/tocsin-agent/key
  mkdir /etc/tocsin-agent/checks.d
  touch /etc/tocsin-agent/checks.d/mine.yaml
  dpkg -P tocsin-agent >/dev/null 2>&1
  ls -d /etc/tocsin-agent /var/lib/tocsin-agent 2>/dev/null || echo purged
  id tocsin-agent 2>/dev/null || echo no user`

/** A user of the group, whose jobs report. */
const MEMBER = `
  useradd --system reporter
  member() { setpriv --reuid=reporter --regid=reporter --groups=tocsin-agent "$@"; }
  backlog() { agent status | grep -o "[0-9]* results\\?"; }
`

const MAY = `${MEMBER}
  stat -c "%A %U %G %n" $state $state/spool
  member tocsin-agent report job ok
  before=$(tocsin-agent fingerprint)
  tocsin-agent report job critical
  backlog
  stat -c "%A %U %G %n" $state/key $state/agent.lock
  for deed in "cat key" "true <agent.lock" "touch key.next" "mkdir other" "rm key" "mv spool other"; do
    if member sh -c "cd $state; $deed" 2>/dev/null; then echo "did $deed"; fi
  done
  [ "$(tocsin-agent fingerprint)" = "$before" ] && echo the same key`

/** The folder as the former package left it, with what a member could add to it. */
const FORMER = `${MEMBER}
  rm -r $state/spool $state/spool.db
  chmod 3770 $state
  umask 7
  agent fingerprint >before
  agent report job critical
  (umask 77; cp $state/key $state/key.next)
  member sh -c "cd $state; touch agent.lock; mkdir spool.new; ln -s /root spool"
  upgrade
  stat -c "%A %U %G %n" $state $state/spool $state/key.next /root
  readlink $state/spool.db
  backlog
  agent fingerprint 2>/dev/null | cmp - before && echo the same key
  [ $state/spool.db -ef $state/spool/spool.db ] && echo a spool for the former package`

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

  it("say which Node.js they need on an older one", () => {
    const program = join(folder, "agent/tocsin-agent.mjs")
    const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } })`
    const args = ["--import", `data:text/javascript,${encodeURIComponent(old)}`, program, "check"]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" })
    assert.deepStrictEqual(
      [status, stderr],
      [
        1,
        `tocsin-agent needs Node.js 24 or newer, and this is ${process.version}: install it, then run this again.\n`,
      ],
    )
    // An older Node.js lacks the first, and parts of the second, and ends at their import.
    assert.notMatch(readFileSync(program, "utf8"), /^import .*"node:(sqlite|util)"/m)
  })

  const nameOfDeb = () => readdirSync(join(folder, "agent")).find((name) => name.endsWith(".deb")) ?? ""

  it.skipIf(!isDebian)("have a guide without links to pages that are not in them", () => {
    execFileSync(PACKER, ["-x", join(folder, "agent", nameOfDeb()), join(folder, "files")])
    const guide = readFileSync(join(folder, "files/usr/share/doc/tocsin-agent/README.md"), "utf8")
    assert.notMatch(guide, /\]\((?!#)/)
    assert.include(guide, "(docs/start/server.md)")
  })

  const why = obstacle === undefined ? "" : ` (${obstacle})`
  const said = (script: string) => {
    const deb = nameOfDeb()
    const scratch = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const env = {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      DEB: join(folder, "agent", deb),
      NODE: process.execPath,
      SCRATCH: scratch,
    }
    // Its mounts end with its namespace.
    const { stdout, stderr } = spawnSync(ISOLATOR, ["--mount", "sh", "-c", onDebian(script)], {
      encoding: "utf8",
      env,
    })
    rmSync(scratch, { recursive: true })
    return { lines: stdout.trim().split("\n"), stderr }
  }

  it.skipIf(obstacle !== undefined)(`are installed, upgraded, removed and purged on Debian${why}`, () => {
    const { lines, stderr } = said(LIFE)
    assert.deepStrictEqual(
      lines,
      [
        "tocsin-agent: /etc/tocsin-agent/config.yaml:8: must have server: the address of the Tocsin server",
        "Correct this, then: systemctl restart tocsin-agent",
        "/etc/tocsin-agent/config.yaml: 4 checks, no problems",
        "640 root tocsin-agent",
        ...refusals,
        "640 root tocsin-agent",
        "server: http://127.0.0.1:8080",
        "/etc/tocsin-agent/config.yaml",
        "/var/lib/tocsin-agent/key",
        "purged",
        "no user",
      ],
      stderr,
    )
  })

  it.skipIf(obstacle !== undefined)(
    `let members of the group report, and keep the key from them${why}`,
    () => {
      const { lines, stderr } = said(MAY)
      assert.deepStrictEqual(
        lines,
        [
          "drwx--s--- tocsin-agent tocsin-agent /var/lib/tocsin-agent",
          "drwxrws--T tocsin-agent tocsin-agent /var/lib/tocsin-agent/spool",
          "2 results",
          "-rw------- tocsin-agent tocsin-agent /var/lib/tocsin-agent/key",
          "-rw------- tocsin-agent tocsin-agent /var/lib/tocsin-agent/agent.lock",
          "the same key",
        ],
        stderr,
      )
    },
  )

  it.skipIf(obstacle !== undefined)(
    `take over key and spool of the former package, and leave it both${why}`,
    () => {
      const { lines, stderr } = said(FORMER)
      assert.deepStrictEqual(
        lines,
        [
          "drwx--s--- tocsin-agent tocsin-agent /var/lib/tocsin-agent",
          "drwxrws--T tocsin-agent tocsin-agent /var/lib/tocsin-agent/spool",
          "-rw------- tocsin-agent tocsin-agent /var/lib/tocsin-agent/key.next",
          "drwx------ root root /root",
          "spool/spool.db",
          "1 result",
          "the same key",
          "a spool for the former package",
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

  it("lets members of the group enter the state folder, as the package does", () => {
    assert.deepStrictEqual(service["StateDirectoryMode"], ["2710"])
    assert.include(
      readFileSync("deploy/agent/debian/postinst", "utf8"),
      "install -d -m 2710 -o tocsin-agent -g tocsin-agent $state\n",
    )
  })

  it("allows the compiler of Node.js, and gives checks no privileges", () => {
    assert.isUndefined(service["MemoryDenyWriteExecute"])
    assert.deepStrictEqual([service["NoNewPrivileges"], service["CapabilityBoundingSet"]], [["yes"], [""]])
  })
})
