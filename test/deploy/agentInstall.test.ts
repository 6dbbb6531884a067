import { execFile } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { enrolmentLines } from "@tocsin/contract/enrolment/enrolmentLines"
import manifest from "../../packages/agent/package.json" with { type: "json" }
import { Effect, Schema } from "effect"
import { OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { AGENT } from "../processes/program.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { whyNotAtLength } from "../properties/atLength.ts"
import { build } from "./build.ts"
import { whyNotIsolated } from "./Container.ts"
import { COPY, ISOLATOR, minimal, whyNoRootMaker } from "./roots.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"

const obstacle = process.platform === "linux" ? (whyNotIsolated() ?? lacking("curl")) : "this is no Linux"
/** Why the suite makes no Debian from nothing; nothing if it does. */
const whyNoRoot = obstacle ?? whyNotAtLength ?? whyNoRootMaker

/** A proxy that strips its prefix. */
const PREFIX = "/monitor"

const startProxy = ({ port }: ServerProcess) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly address: string; readonly close: () => void }>((resume) => {
      const proxy = createServer((incoming, outgoing) => {
        const path = incoming.url?.slice(PREFIX.length) ?? "/"
        const { headers, method } = incoming
        const onward = request({ port, host: "127.0.0.1", path, method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        })
        onward.on("error", () => outgoing.destroy())
        incoming.pipe(onward)
      }).listen(0, "127.0.0.1", () => {
        const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`
        const close = () => void proxy.close().closeAllConnections()
        resume(Effect.succeed({ address, close }))
      })
    }),
    ({ close }) => Effect.sync(close),
  )

/** Stands for systemd: notes its calls, and runs the agent. */
const SYSTEMCTL = `#!/bin/sh
echo "systemctl $*" >>/calls
case "$1" in
  restart)
    [ ! -e /run/agent ] || { kill "$(cat /run/agent)"; sleep 0.5; }
    setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent start >/dev/null 2>&1 &
    echo $! >/run/agent
    ;;
  disable) kill "$(cat /run/agent)" 2>/dev/null ;;
esac
`

/** A copy of this system, without systemd. */
const WITHOUT_SYSTEMD = `${COPY}
rm -rf "$SCRATCH/root/etc/tocsin-agent" "$SCRATCH/root/run/systemd"
`

/** The life of an agent on a host that has no Node.js 24, and later has it. */
const lifeOn = (root: string) => `
set -eu
mount -t tmpfs none "$SCRATCH"
${root}
root=$SCRATCH/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir "$root/host"
cp "$FILES"/* "$root/host"
touch "$root/host/node"
mount --bind "$NODE" "$root/host/node"
exec chroot "$root" sh -euc '
  cd /host
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  printf "#!/bin/sh\\n[ \\$1 = --version ] && echo v20.20.2\\n" >/usr/local/bin/node
  chmod 755 /usr/local/bin/node
  install() { sh tocsin-agent.sh --server "$SERVER" "$@" </dev/null 2>&1 || true; }
  umask 077
  sh -c "$GET"

  echo "# refused"
  install --server monitor.example
  install --server "https://a b"
  install --fast
  flock /run/tocsin-agent.lock sh tocsin-agent.sh --server http://localhost:8080@other.example 2>&1 || true
  printf "#!/bin/sh\\n[ \\$1 = -s ] && echo Linux || echo riscv64\\n" >/usr/local/bin/uname
  chmod 755 /usr/local/bin/uname
  install
  rm /usr/local/bin/uname
  sed "s/^[0-9a-f]\\{64\\}  tocsin-agent.tgz/$(printf %064d 0)  tocsin-agent.tgz/" tocsin-agent.sh >other.sh
  sh other.sh --server "$SERVER" 2>&1 || true
  ls -d /usr/bin/tocsin-agent* /usr/lib/tocsin-agent /etc/tocsin-agent /var/lib/tocsin-agent 2>/dev/null || echo nothing

  echo "# without systemd"
  mkdir /etc/tocsin-agent
  echo "server: \${SERVER}2" >/etc/tocsin-agent/config.yaml
  install | head -n 4
  rm -r /etc/tocsin-agent

  echo "# with systemd"
  mkdir -p /run/systemd/system
  mv systemctl /usr/local/bin
  install --token-file token | head -n 3
  cat /calls
  stat -c "%a %U %G %n" /usr/bin/tocsin-agent /usr/lib/tocsin-agent /usr/lib/tocsin-agent/* /etc/tocsin-agent/* /var/lib/tocsin-agent/key
  grep ^server: /etc/tocsin-agent/config.yaml
  before=$(tocsin-agent fingerprint)

  echo "# upgraded"
  echo "# mine" >>/etc/tocsin-agent/config.yaml
  cp node /usr/local/bin/node
  install | head -n 2
  tail -n 1 /etc/tocsin-agent/config.yaml
  [ "$(tocsin-agent fingerprint)" = "$before" ] && echo the same key

  echo "# removed"
  sh /usr/lib/tocsin-agent/install.sh --remove
  ls -d /usr/bin/tocsin-agent /usr/lib/tocsin-agent /lib/systemd/system/tocsin-agent.service 2>/dev/null || echo removed
  ls /etc/tocsin-agent/config.yaml /var/lib/tocsin-agent/key
  sh tocsin-agent.sh --purge
  ls -d /etc/tocsin-agent /var/lib/tocsin-agent 2>/dev/null || id tocsin-agent 2>/dev/null || echo purged

  echo "# asked"
  # The server knows the former key of this name, and no token accepts another one.
  hostname another-host
  (
    until grep -qs "Enrolment token" shown; do sleep 0.1; done
    cat token
    until grep -qs "To upgrade it" shown; do sleep 0.1; done
  ) | script -qefc "sh tocsin-agent.sh --server $SERVER" shown >/dev/null
  grep -c "enrol_" shown || true
  grep -o "The server has accepted this agent." shown
  systemctl disable
'`

/** Runs the agent as an executable would. */
const STAND_IN = '#!/bin/sh\nexec /host/node /host/agent.mjs "$@"\n'

/** Lines that differ from run to run are shortened. */
const steady = (output: string, server: string): ReadonlyArray<string> =>
  output
    .replaceAll(server, "SERVER")
    .replaceAll(/\b[0-9a-f]{16}\b/g, "FINGERPRINT")
    .trim()
    .split("\n")

const INSTALLED = (by: string) =>
  `tocsin-agent ${manifest.version} is installed, and runs on ${by}. Its configuration is /etc/tocsin-agent/config.yaml.`
const ACCEPTED = "The server has accepted this agent."
const EXECUTABLE = `tocsin-agent-linux-${process.arch}`

const EXPECTED = [
  "tocsin-agent.sh: OK",
  "# refused",
  "tocsin-agent.sh: monitor.example is no address: begin it with https://",
  "tocsin-agent.sh: https://a b is no address: write it without spaces, quotes and the like",
  "tocsin-agent.sh: --fast is no option: see --help",
  "http://localhost:8080@other.example is not encrypted: everyone on the way can read the agent's key and change its results.",
  "tocsin-agent.sh: another run of this script is under way: run it again once that has ended",
  `tocsin-agent.sh: a Node.js that runs the agent is missing (found: v20.20.2), and so is tocsin-agent-linux-riscv64 on the server: install the latest Node.js 24 in /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin, or put that file of "npm run package" into the server's SERVICE_AGENT_DIR and get this script again`,
  "tocsin-agent.sh: tocsin-agent.tgz is not the file that this script expects: get the script again, since the server may have another version now",
  "nothing",
  "# without systemd",
  "/etc/tocsin-agent/config.yaml names another server than SERVER, and stays as it is.",
  INSTALLED(EXECUTABLE),
  "systemd does not run here: the unit is installed, but starts nothing. Start the agent as its user, or again if it runs:",
  "  setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent start",
  "# with systemd",
  INSTALLED(EXECUTABLE),
  ACCEPTED,
  "To upgrade it, get this script from the server again, and run it. To remove it:",
  "systemctl daemon-reload",
  "systemctl enable --quiet tocsin-agent",
  "systemctl restart tocsin-agent",
  "755 root root /usr/bin/tocsin-agent",
  "755 root root /usr/lib/tocsin-agent",
  "755 root root /usr/lib/tocsin-agent/install.sh",
  "640 root tocsin-agent /etc/tocsin-agent/config.yaml",
  "600 tocsin-agent tocsin-agent /var/lib/tocsin-agent/key",
  "server: SERVER",
  "# upgraded",
  INSTALLED(`Node.js ${process.versions.node}`),
  ACCEPTED,
  "# mine",
  "the same key",
  "# removed",
  "tocsin-agent is removed. Its configuration stays in /etc/tocsin-agent, its key and unsent results in /var/lib/tocsin-agent.",
  "removed",
  "/etc/tocsin-agent/config.yaml",
  "/var/lib/tocsin-agent/key",
  "tocsin-agent is removed, with its configuration, its key and unsent results.",
  "purged",
  "# asked",
  "0",
  ACCEPTED,
]

const tokenOf = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ token: Schema.String })))
const downloadOf = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ sha256: Schema.String })))

describe("the script that a server hands out", () => {
  it.skipIf(process.getuid?.() !== 0)("says that a download stands still, as root", async () => {
    const stalling = createServer((_, answer) => void answer.writeHead(200).write("begun")).listen(0)
    await once(stalling, "listening")
    const server = `http://127.0.0.1:${(stalling.address() as AddressInfo).port}`
    const script = readFileSync("packages/agent/install.sh", "utf8")
      .replace("@CHECKSUMS@", `${"0".repeat(64)}  tocsin-agent.tgz`)
      .replace(/^patience=30\nretrying=60$/m, "patience=1\nretrying=1")
    const said = await new Promise<string>((resolve) => {
      const child = execFile("sh", ["-s", "--", "--server", server], (_, _out, stderr) => resolve(stderr))
      child.stdin?.end(script)
    })
    stalling.close().closeAllConnections()
    const words = "stands still: nothing came for 1 seconds; look at the network, then run this script again"
    assert.include(said, `tocsin-agent.sh: ${server}/agent/tocsin-agent.tgz ${words}`)
  })

  it.live.skipIf(obstacle !== undefined)(
    `installs the agent below a proxy's prefix, enrols, upgrades and removes it${skippedFor(obstacle)}`,
    () => lives(WITHOUT_SYSTEMD, (folder) => writeFileSync(join(folder, EXECUTABLE), STAND_IN)),
    600_000,
  )

  it.live.skipIf(whyNoRoot !== undefined)(
    `does so on a new Debian, with the packaged executable${skippedFor(whyNoRoot)}`,
    () =>
      lives(minimal("--include=curl"), (target) => {
        const packaging = { root: process.cwd(), target, architectures: [process.arch] }
        build("packageAgent.ts", "packageAgent", packaging)
      }),
    1_800_000,
  )

  const lives = (root: string, putExecutable: (folder: string) => void) =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const [folder, files, scratch] = ["agent", "files", "scratch"].map((name) => join(cwd, name)) as [
        string,
        string,
        string,
      ]
      for (const each of [folder, files, scratch]) mkdirSync(each)
      writeFileSync(join(folder, "tocsin-agent-licenses.txt"), "licences")
      writeFileSync(join(folder, "tocsin-agent_tgz"), "not the package")
      putExecutable(folder)
      const server = yield* startServer({
        cwd,
        environment: {
          DATABASE_URL: "memory:",
          SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
          SERVICE_AGENT_DIR: folder,
          SERVICE_LOG_LEVEL: "info",
        },
      })
      const { address } = yield* startProxy(server)
      const { sha256 } = downloadOf((yield* operate(server, "GET", "/ops/v1/agent_download")).text)
      const { token } = tokenOf(
        (yield* operate(server, "POST", "/ops/v1/enrolments", { json: { uses: 2 } })).text,
      )
      copyFileSync(AGENT, join(files, "agent.mjs"))
      writeFileSync(join(files, "systemctl"), SYSTEMCTL, { mode: 0o755 })
      writeFileSync(join(files, "token"), `${token}\n`)
      const [line = ""] = enrolmentLines({ server: address, sha256, token })
      // Its last command runs the script, as this life does with other options.
      const get = line.slice(0, line.lastIndexOf(" && "))
      const env = {
        PATH: process.env["PATH"],
        FILES: files,
        GET: get,
        NODE: process.execPath,
        SCRATCH: scratch,
        SERVER: address,
      }
      const output = yield* Effect.callback<string>((resume) => {
        // Its mounts and processes end with its namespaces.
        const args = ["--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", lifeOn(root)]
        execFile(ISOLATOR, args, { env }, (error, stdout, stderr) =>
          resume(Effect.succeed(error === null ? stdout : `${stdout}${stderr}`)),
        )
      })
      assert.deepStrictEqual(steady(output, address), EXPECTED)
    })
})
