import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { nodeRefusal } from "@tocsin/contract/formats/nodeVersions"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import manifest from "../../packages/agent/package.json" with { type: "json" }
import { AT_LENGTH, unlessAtLength, whyNotAtLength } from "../properties/atLength.ts"
import { lacking } from "../../scripts/programs.mjs"
import { build, buildIn } from "./build.ts"
import { whyNotIsolated } from "./Container.ts"
import { COPY, ISOLATOR, minimal, whyNoRootMaker } from "./roots.ts"
import { readUnit } from "./UnitFile.ts"

const PATIENCE_MILLIS = 1_800_000
const LARGEST_DOWNLOAD = 35_000_000

const debianNames: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" }
const hostName = process.platform === "linux" ? debianNames[process.arch] : undefined

const notDebian = lacking("dpkg-deb")
const isDebian = notDebian === undefined
const obstacle =
  hostName === undefined ? "there is no executable for this machine" : (notDebian ?? whyNotIsolated())

/** Why what takes minutes is left out; nothing if it is not. */
const whyNot = obstacle ?? whyNotAtLength
/** Why the suite makes no Debian from nothing; nothing if it does. */
const whyNoRoot = whyNot ?? whyNoRootMaker
const whyNoArm = whyNoRoot ?? lacking("qemu-aarch64-static")

const MINIMAL = minimal()

/** Runs a script with the packages in a root that is thrown away. */
const onDebian = (root: string, script: string) => `
set -eu
mount -t tmpfs none "$SCRATCH"
${root}
mount -t proc proc "$SCRATCH/root/proc"
mount --rbind /dev "$SCRATCH/root/dev"
mkdir "$SCRATCH/root/packages"
cp "$DEB" "$SCRATCH/root/packages/first.deb"
exec chroot "$SCRATCH/root" sh -euc '
  cd /packages
  state=/var/lib/tocsin-agent
  upgrade() {
    rm -rf second
    dpkg-deb -R first.deb second
    sed -i "s/^Version: .*/Version: 9.0.0/" second/DEBIAN/control
    echo "# another default" >> second/etc/tocsin-agent/config.yaml
    dpkg-deb -Znone -b second second.deb >/dev/null
    dpkg --force-confold -i second.deb >/dev/null 2>&1
  }
  agent() { setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent "$@"; }
${script}
'`

const INSTALL = "dpkg -i first.deb >/dev/null\n"

/** The answers to a user without rights for the commands of {@link LIFE}. */
const refusals = [
  "EACCES: permission denied, scandir '/var/lib/tocsin-agent'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/key.unfinished'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/key.unfinished'",
  "EACCES: permission denied, scandir '/var/lib/tocsin-agent'",
  "the result is not reported: EACCES: permission denied, scandir '/var/lib/tocsin-agent'",
  "EACCES: permission denied, open '/var/lib/tocsin-agent/agent.lock'",
].map(
  (message) =>
    `tocsin-agent: ${message}: run it as root or as the owner of the state folder, on a disk that is not read-only; report and run also work in the folder's group`,
)

const LIFE = `${INSTALL}
  [ -z "$IS_MINIMAL" ] || ! command -v node || exit 1
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
  ls -d /etc/tocsin-agent /var/lib/tocsin-agent /usr/bin/tocsin-agent 2>/dev/null || echo purged
  id tocsin-agent 2>/dev/null || echo no user`

/** A user of the group, whose jobs report. */
const MEMBER = `${INSTALL}
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

/** A job that the signal reaches through its wrapper. */
const JOB = "trap 'echo got it; exit 5' USR1; echo ready; while :; do kill -USR1 $PPID; sleep 0.1; done"

const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
const packages = join(folder, "download")
afterAll(() => rmSync(folder, { recursive: true }))

describe("the agent's packages", { timeout: PATIENCE_MILLIS }, () => {
  beforeAll(() => {
    build("buildAgent.ts", "buildAgent", process.cwd(), folder)
    if (hostName === undefined) return
    const only = AT_LENGTH ? {} : { architectures: [process.arch], isQuick: true }
    build("packageAgent.ts", "packageAgent", { root: process.cwd(), target: packages, ...only })
    if (!isDebian) return
    execFileSync("dpkg-deb", ["-x", deb, join(folder, "files")])
  }, PATIENCE_MILLIS)

  it("are one file for Node.js", () => {
    const output = execFileSync(process.execPath, [join(folder, "agent/tocsin-agent.mjs"), "--help"], {
      encoding: "utf8",
      cwd: tmpdir(),
    })
    assert.include(output, "tocsin-agent start")
  })

  it("have the same bytes wherever they are built: servers hand them out", () => {
    const [tarball, again] = [`tocsin-agent-${manifest.version}.tgz`, join(folder, "again")]
    buildIn(tmpdir(), "buildAgent.ts", "buildAgent", process.cwd(), again)
    assert.isTrue(readFileSync(join(again, tarball)).equals(readFileSync(join(folder, tarball))))
  })

  it("say which Node.js they need on an older one", () => {
    const program = join(folder, "agent/tocsin-agent.mjs")
    for (const node of ["18.20.8", "24.21.0"]) {
      const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`
      const args = ["--import", `data:text/javascript,${encodeURIComponent(old)}`, program, "check"]
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" })
      assert.deepStrictEqual([status, stderr], [1, `${nodeRefusal("tocsin-agent", { node })}\n`])
    }
    // An older Node.js lacks the first, and parts of the second, and ends at their import.
    assert.notMatch(readFileSync(program, "utf8"), /^import .*"node:(sqlite|util)"/m)
  })

  const deb = join(packages, `tocsin-agent_${manifest.version}_${hostName}.deb`)
  const executable = join(folder, "files/usr/bin/tocsin-agent")

  it.skipIf(!isDebian)(
    `have a guide without links to pages that are not in them${skippedFor(notDebian)}`,
    () => {
      const guide = readFileSync(join(folder, "files/usr/share/doc/tocsin-agent/README.md"), "utf8")
      assert.notMatch(guide, /\]\((?!#)/)
      assert.include(guide, "(docs/start/server.md)")
    },
  )

  it.skipIf(!isDebian)(`have the licences of Node.js and of what is bundled${skippedFor(notDebian)}`, () => {
    const texts = readFileSync(join(folder, "files/usr/share/doc/tocsin-agent/copyright"), "utf8")
    for (const text of ["yaml 2.9.1", "Node.js is licensed for use as follows", "OpenSSL"])
      assert.include(texts, text)
  })

  it.skipIf(!isDebian)(`are an executable that loads what a check needs${skippedFor(notDebian)}`, () => {
    const config = join(folder, "config.yaml")
    const closed = "127.0.0.1, port: 1"
    writeFileSync(
      config,
      `server: http://127.0.0.1:1
checks:
  http: { http: { url: "http://127.0.0.1:1" } }
  https: { http: { url: "https://127.0.0.1:1" } }
  tls: { tls: { host: ${closed} } }
  tcp: { tcp: { host: ${closed} } }
  dns: { dns: { name: localhost, servers: ["127.0.0.1:1"] } }
`,
    )
    const outputs = ["http", "https", "tls", "tcp", "dns"].map((check) => {
      const options = ["--config", config, "--state", join(folder, "state")]
      return spawnSync(executable, ["try", check, ...options], { encoding: "utf8" }).stdout
    })
    for (const output of outputs) assert.include(output, "ECONNREFUSED")
    const { stdout } = spawnSync(executable, ["check", "--config", config, "--print"], { encoding: "utf8" })
    assert.include(stdout, "url: https://127.0.0.1:1")
  })

  it.skipIf(!isDebian)(
    `are an executable that wraps jobs, and takes no options of Node.js${skippedFor(notDebian)}`,
    () => {
      const options = ["--config", "/dev/null", "--state", join(folder, "state")]
      const { status, stdout, stderr } = spawnSync(
        executable,
        ["run", ...options, "job", "--", "sh", "-c", JOB],
        { encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "--inspect=127.0.0.1:0" }, timeout: 60_000 },
      )
      assert.deepStrictEqual([status, stdout, stderr], [5, "ready\ngot it\n", ""])
    },
  )

  const said = (root: string, script: string) => {
    const scratch = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const env = {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      DEB: deb,
      PACKAGES: packages,
      IS_MINIMAL: root === MINIMAL ? "yes" : "",
      SCRATCH: scratch,
    }
    // Its mounts end with its namespace.
    const { stdout, stderr } = spawnSync(ISOLATOR, ["--mount", "sh", "-c", onDebian(root, script)], {
      encoding: "utf8",
      env,
    })
    rmSync(scratch, { recursive: true })
    return { lines: stdout.trim().split("\n"), stderr }
  }

  it.skipIf(obstacle !== undefined || whyNoRoot === undefined)(
    `are installed, upgraded, removed and purged on this Debian${skippedFor(obstacle ?? (whyNoRoot === undefined ? "a new Debian proves it" : undefined))}`,
    () => assertLife(COPY),
  )

  it.skipIf(whyNoRoot !== undefined)(
    `are installed, upgraded, removed and purged on a new Debian${skippedFor(whyNoRoot)}`,
    () => assertLife(MINIMAL),
  )

  const assertLife = (root: string) => {
    const { lines, stderr } = said(root, LIFE)
    assert.deepStrictEqual(
      lines,
      [
        "tocsin-agent: /etc/tocsin-agent/config.yaml:7: must have server: the address of the Tocsin server",
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
  }

  it.skipIf(obstacle !== undefined)(
    `let members of the group report, and keep the key from them${skippedFor(obstacle)}`,
    () => {
      const { lines, stderr } = said(COPY, MAY)
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

  it.skipIf(whyNot !== undefined)(
    `take over key and spool of the former package, and leave it both${skippedFor(whyNot)}`,
    () => {
      const { lines, stderr } = said(COPY, FORMER)
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

  it.skipIf(!AT_LENGTH || hostName === undefined)(
    `are of at most 35 MB for Debian, with checksums${unlessAtLength}`,
    () => {
      const files = readFileSync(join(packages, "SHA256SUMS"), "utf8").match(/\S+$/gm) ?? []
      const large = files.filter(
        (file) => file.endsWith(".deb") && statSync(join(packages, file)).size > LARGEST_DOWNLOAD,
      )
      assert.deepStrictEqual([large, files.length], [[], isDebian ? 5 : 3])
    },
  )

  it.skipIf(whyNoArm !== undefined)(`run on arm64${skippedFor(whyNoArm)}`, () => {
    const root = minimal("--foreign", "--arch=arm64")
    const script = `set -eu
      mount -t tmpfs none "$SCRATCH"
      ${root}
      qemu-aarch64-static -L "$SCRATCH/root" "$PACKAGES/tocsin-agent-linux-arm64" --version`
    const scratch = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const { stdout, stderr } = spawnSync(ISOLATOR, ["--mount", "sh", "-c", script], {
      encoding: "utf8",
      env: { ...process.env, PACKAGES: packages, SCRATCH: scratch },
    })
    rmSync(scratch, { recursive: true })
    assert.strictEqual(stdout, `${manifest.version}\n`, stderr)
  })
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
