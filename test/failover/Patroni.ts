import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { readFileSync } from "node:fs"
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { Effect, Predicate } from "effect"
import { until } from "../processes/until.ts"
import type { Environment } from "../processes/secrecy.ts"
import { administrator, untilMoreIsCommitted } from "./administrator.ts"
import type { Cluster } from "./scenario.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

const ETCD = programPath("etcd") ?? "etcd"
const PATRONI = programPath("patroni") ?? "patroni"
const postgres = programPath("postgres")
const programs = postgres && dirname(postgres)

/** Why nothing runs under Patroni here; `undefined` if it does. */
export const withoutPatroni = lacking("etcd", "patroni", "postgres")

const PASSWORD = "of-a-test"

/** PostgreSQL refuses to run as root: there it runs as the user that Debian made for it. */
const account = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

interface Place {
  readonly name: string
  readonly folder: string
  readonly address: string
}

const fileOf = (name: string): string =>
  readFileSync(new URL(`../../deploy/high-availability/${name}`, import.meta.url), "utf8")

const replaced = (text: string, changes: Readonly<Record<string, string>>): string =>
  Object.entries(changes).reduce((changed, [from, to]) => {
    // Otherwise the test would run something other than the published file.
    if (!changed.includes(from)) throw new Error(`the configuration has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)

const POSTGRES_PORT = 5432
const PATRONI_PORT = 8008

/**
 * Three PostgreSQL servers under Patroni, and three of etcd, as docs/install/high-availability.md sets
 * them up: all on this machine, each at a loopback address.
 */
export const startPatroni = Effect.fnUntraced(function* (isSynchronous: boolean) {
  const owner = account()
  const running = new Map<string, ChildProcess>()
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "tocsin-patroni-")))
  const own = (path: string) => Effect.promise(async () => owner && (await chown(path, owner.uid, owner.gid)))
  yield* own(folder)
  const run = (name: string, program: string, args: ReadonlyArray<string>, settings: Environment = {}) => {
    const env = { ...process.env, ...settings }
    running.set(name, spawn(program, args, { cwd: folder, env, stdio: "ignore", detached: true, ...owner }))
  }
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { pid } of running.values()) if (pid !== undefined) killGroup(pid)
      for (const place of places) await killServer(place)
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    }),
  )
  // Others may run the same ports at other addresses.
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const places: ReadonlyArray<Place> = ["one", "two", "three"].map((name, index) => ({
    name,
    folder: join(folder, name),
    address: `${network}.${index + 11}`,
  }))
  const variablesOf = ({ address, name }: Place) => ({
    ...Object.fromEntries(places.map((place) => [`\${${place.name.toUpperCase()}}`, place.address])),
    "${NAME}": name,
    "${ADDRESS}": address,
  })
  const settingsOf = (place: Place) => {
    const text = replaced(fileOf("etcd.env"), {
      ...variablesOf(place),
      ",http://127.0.0.1:2379": "",
      "/var/lib/etcd/tocsin": join(folder, `etcd-${place.name}`),
    })
    return Object.fromEntries(Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name, value]) => [name, value]))
  }
  const configOf = (place: Place) =>
    replaced(fileOf("patroni.yml"), {
      ...variablesOf(place),
      "${POSTGRES_PASSWORD}": PASSWORD,
      "${REPLICATION_PASSWORD}": PASSWORD,
      "${PATRONI_PASSWORD}": PASSWORD,
      "/usr/lib/postgresql/15/bin": programs ?? "",
      "/var/lib/postgresql/15/tocsin": join(place.folder, "data"),
      "/var/lib/postgresql/pgpass-patroni": join(place.folder, "pgpass"),
      "/var/run/postgresql": place.folder,
      // Any address of a client that connects to a loopback address.
      "/32 ": "/8 ",
      "synchronous_mode: true": `synchronous_mode: ${isSynchronous}`,
    })
  for (const place of places) {
    yield* Effect.promise(async () => {
      await mkdir(place.folder, { mode: 0o700 })
      await writeFile(`${place.folder}.yaml`, configOf(place), { mode: 0o644 })
    })
    yield* own(place.folder)
    run(`etcd of ${place.name}`, ETCD, [], settingsOf(place))
  }
  const start = ({ folder: of, name }: Place) => Effect.sync(() => run(name, PATRONI, [`${of}.yaml`]))
  yield* Effect.forEach(places, start, { discard: true })

  const primary = Effect.promise(async () => {
    for (const place of places) if (await is(place, "primary")) return place
    return undefined
  })
  const isComplete = Effect.promise(async () => {
    for (const place of places)
      if (await is(place, "primary")) return isWhole(place, { members: places.length, isSynchronous })
    return false
  })
  yield* until("three servers replicate", isComplete, "2 minutes")
  let killed: Place | undefined
  const failOver = Effect.gen(function* () {
    const lost = yield* until("there is a primary", primary)
    killed = lost
    const senders = isSynchronous ? [] : yield* fallBehind(urlOf([lost]))
    const { pid } = running.get(lost.name) ?? {}
    if (pid !== undefined) killGroup(pid)
    yield* Effect.promise(() => killServer(lost))
    for (const sender of senders) process.kill(sender, "SIGKILL")
    yield* until(
      "another is promoted",
      Effect.map(primary, (found) => found !== undefined && found.name !== lost.name),
      "2 minutes",
    )
  })
  const repair = Effect.gen(function* () {
    if (killed !== undefined) yield* start(killed)
    yield* until("three servers replicate again", isComplete, "3 minutes")
  })
  return { url: urlOf(places), isSynchronous, failOver, repair } satisfies Cluster
})

const urlOf = (places: ReadonlyArray<Place>): string => {
  const hosts = places.map(({ address }) => `${address}:${POSTGRES_PORT}`).join(",")
  return `postgres://postgres:${PASSWORD}@${hosts}/postgres?target_session_attrs=read-write`
}

/** Stops what a primary sends to its standbys, and waits until it has committed more. Returns the senders. */
const fallBehind = Effect.fnUntraced(
  function* (url: string) {
    const sql = yield* administrator(url)
    const senders = (yield* sql<{ pid: number }>`SELECT pid FROM pg_stat_replication`).map(({ pid }) => pid)
    for (const sender of senders) process.kill(sender, "SIGSTOP")
    yield* untilMoreIsCommitted(sql)
    return senders
  },
  Effect.scoped,
  Effect.orDie,
)

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended.
  }
}

/** PostgreSQL has a process group of its own. */
const killServer = async ({ folder }: Place): Promise<void> => {
  const found = await readFile(join(folder, "data", "postmaster.pid"), "utf8").catch(() => "")
  const [pid] = found.split("\n")
  try {
    if (pid !== undefined && pid !== "") process.kill(Number(pid), "SIGKILL")
  } catch {
    // It has ended.
  }
}

const answerOf = (address: string, path: string): Promise<Response | undefined> =>
  fetch(`http://${address}:${PATRONI_PORT}/${path}`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  )

const is = async ({ address }: Place, role: "primary"): Promise<boolean> =>
  (await answerOf(address, role))?.status === 200

/** Whether all members run, and one standby is synchronous where one has to be. */
const isWhole = async (
  { address }: Place,
  { isSynchronous, members }: { readonly isSynchronous: boolean; readonly members: number },
): Promise<boolean> => {
  const found: unknown = await (await answerOf(address, "cluster"))?.json()
  if (!Predicate.hasProperty(found, "members") || !Array.isArray(found.members)) return false
  const running = found.members.filter(({ state }) => state === "running" || state === "streaming")
  if (running.length !== members) return false
  return !isSynchronous || running.some(({ role }) => role === "sync_standby")
}
