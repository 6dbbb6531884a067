// The programs that tests look for beside those of every system, and which packages of Debian have them. Tests find
// them here, `.ci/run` installs what is missing, and test/tidy/programs.test.ts holds the list against the tests.
// Plain JavaScript, for any Node.js from 20 on.
import { accessSync, constants, readdirSync, statSync } from "node:fs"
import { delimiter, join } from "node:path"
import process from "node:process"

/**
 * `names`: those of its file, the first one that is there. `folders`: where else than on PATH. `variable`: may name it.
 * `tests`: the files that ask for it. `atLength`: only `npm run test:long` asks for it.
 *
 * @typedef {{ names?: readonly string[], folders?: readonly string[], variable?: string,
 * packages: readonly string[], tests: readonly string[], atLength?: boolean }} Program
 */

export const programs = /** @type {const} @satisfies {Record<string, Program>} */ ({
  borg: { packages: ["borgbackup"], tests: ["test/senders/senders.test.ts"] },
  borgmatic: { packages: ["borgmatic"], tests: ["test/senders/senders.test.ts"] },
  caddy: { packages: ["caddy"], tests: ["test/proxies/Proxy.ts"] },
  cc: {
    names: ["cc", "gcc"],
    packages: ["gcc", "libc6-dev"],
    tests: ["test/faults/FaultyDisk.ts", "test/storage/sqliteStalledDisk.test.ts"],
  },
  chromium: {
    names: ["chromium", "chromium-browser", "google-chrome"],
    variable: "TEST_CHROMIUM",
    packages: ["chromium"],
    tests: ["test/browsers/WebDriver.ts", "test/console/Console.ts", "test/proxies/gate.test.ts"],
  },
  "chromium-headless-shell": {
    packages: ["chromium-headless-shell"],
    tests: ["test/console/Console.ts"],
  },
  curl: {
    packages: ["curl"],
    tests: [
      "test/deploy/agentInstall.test.ts",
      "test/docs/codeBlocks.test.ts",
      "test/examples/agent.test.ts",
      "test/examples/agentSuite.test.ts",
      "test/senders/senders.test.ts",
    ],
  },
  debootstrap: { packages: ["debootstrap"], tests: ["test/deploy/roots.ts"], atLength: true },
  "dpkg-deb": { packages: ["dpkg"], tests: ["test/deploy/agentPackage.test.ts"] },
  etcd: { packages: ["etcd-server"], tests: ["test/failover/Patroni.ts"] },
  git: { packages: ["git"], tests: ["test/deploy/pages.test.ts"] },
  haproxy: { packages: ["haproxy"], tests: ["test/deploy/highAvailability.test.ts"] },
  "firefox-esr": {
    packages: ["firefox-esr"],
    tests: ["test/browsers/WebDriver.ts", "test/browsers/ringing.test.ts", "test/browsers/senses.test.ts"],
  },
  ip: { packages: ["iproute2"], tests: ["test/agent/firewalledPlace.test.ts"], atLength: true },
  MiniBrowser: {
    folders: ["/usr/lib/*/webkit2gtk-4.1"],
    packages: ["webkit2gtk-driver"],
    tests: ["test/browsers/WebDriver.ts"],
  },
  "mkfs.ext4": { packages: ["e2fsprogs"], tests: ["packages/agent/test/probes/mountedKernel.test.ts"] },
  nginx: { packages: ["nginx-light"], tests: ["test/proxies/Proxy.ts", "test/proxies/gate.test.ts"] },
  nft: { packages: ["nftables"], tests: ["test/agent/firewalledPlace.test.ts"], atLength: true },
  openssl: {
    packages: ["openssl"],
    tests: [
      "packages/adapter-notify/test/email/email.test.ts",
      "packages/adapter-pg/test/client/databaseTls.test.ts",
      "packages/agent/test/probes/probed.ts",
      "packages/agent/test/sending/httpTransport.test.ts",
      "test/console/newWatch.test.ts",
      "test/deploy/highAvailability.test.ts",
      "test/docs/codeBlocks.test.ts",
      "test/proxies/Proxy.ts",
      "test/proxies/gate.test.ts",
    ],
  },
  patroni: { packages: ["patroni"], tests: ["test/failover/Patroni.ts"] },
  pgbouncer: { variable: "PGBOUNCER", packages: ["pgbouncer"], tests: ["test/postgres/pgBouncer.ts"] },
  plugins: {
    names: ["check_dummy"],
    folders: ["/usr/lib/nagios/plugins"],
    packages: ["monitoring-plugins-basic"],
    tests: ["packages/agent/test/checks/plugins.test.ts"],
  },
  ping: { packages: ["iputils-ping"], tests: ["packages/agent/test/probes/conditions.test.ts"] },
  postgres: {
    folders: ["/usr/lib/postgresql/*/bin"],
    packages: ["postgresql"],
    tests: ["test/docs/installedPostgres.ts", "test/failover/Patroni.ts"],
  },
  prometheus: {
    packages: ["prometheus"],
    tests: ["test/observability/checkMetrics.test.ts", "test/senders/Prometheus.ts"],
  },
  "prometheus-alertmanager": {
    names: ["prometheus-alertmanager", "alertmanager"],
    packages: ["prometheus-alertmanager"],
    tests: [
      "packages/adapter-notify/test/alertrouter/installedRouter.test.ts",
      "test/senders/pagers.test.ts",
      "test/senders/senders.test.ts",
    ],
  },
  promtool: { variable: "PROMTOOL", packages: ["prometheus"], tests: ["test/observability/promtool.ts"] },
  "qemu-aarch64-static": {
    packages: ["qemu-user-static"],
    tests: ["test/deploy/agentPackage.test.ts"],
    atLength: true,
  },
  setpriv: {
    packages: ["util-linux"],
    tests: ["packages/agent/test/jobs/handOver.test.ts", "packages/agent/test/probes/probes.test.ts"],
  },
  strace: { packages: ["strace"], tests: ["packages/adapter-sqlite/test/log/powerLoss.test.ts"] },
  "systemd-analyze": { packages: ["systemd"], tests: ["test/deploy/systemd.test.ts"] },
  WebKitWebDriver: { packages: ["webkit2gtk-driver"], tests: ["test/browsers/WebDriver.ts"] },
  Xvfb: { packages: ["xvfb"], tests: ["test/browsers/WebDriver.ts"] },
  taskset: { packages: ["util-linux"], tests: ["packages/agent/test/probes/probes.test.ts"] },
})

/** Where programs of administrators are; the PATH of other users leaves them out. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin"]

/**
 * The folders of a pattern, the newest version first.
 *
 * @param {string} pattern
 */
function foldersOf(pattern) {
  const [above = "", below] = pattern.split("/*/")
  if (below === undefined) return [pattern]
  try {
    const versions = readdirSync(above).toSorted((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(above, version, below))
  } catch {
    return []
  }
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * The path of a program; `undefined` if this machine lacks it.
 *
 * @param {keyof typeof programs} name
 */
export function programPath(name) {
  /** @type {Program} */
  const { names = [name], folders = [], variable } = programs[name]
  const named = variable === undefined ? undefined : process.env[variable]
  if (named !== undefined && named.includes("/")) return named
  const places = [
    ...folders.flatMap(foldersOf),
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...SYSTEM_FOLDERS,
  ]
  const wanted = named === undefined ? names : [named]
  return wanted.flatMap((file) => places.map((folder) => join(folder, file))).find(isProgram)
}

/**
 * Why tests with a program are skipped here; `undefined` if this machine has it.
 *
 * @param {Array<keyof typeof programs>} names
 */
export function lacking(...names) {
  const name = names.find((one) => programPath(one) === undefined)
  return name === undefined
    ? undefined
    : `${name} is missing: install ${programs[name].packages.join(" and ")}`
}
