import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Effect, Predicate } from "effect"
import { until } from "../processes/until.ts"
import { freePort } from "../processes/freePort.ts"
import type { Cluster } from "./story.ts"

const ETCD = "/usr/bin/etcd"
const PATRONI = "/usr/bin/patroni"
/** Debian's PostgreSQL, of whatever version. */
const programs = ["18", "17", "16", "15"]
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((folder) => existsSync(folder))

/** Whether Patroni, etcd and PostgreSQL are installed, as Debian installs them. */
export const hasPatroni = existsSync(ETCD) && existsSync(PATRONI) && programs !== undefined

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
  readonly port: number
  readonly api: number
}

/** Written as JSON, which is YAML. Patroni takes no shorter `ttl`. */
const configOf = ({ api, folder, name, port }: Place, etcd: number) => ({
  scope: "tocsin",
  name,
  restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
  etcd3: { host: `127.0.0.1:${etcd}` },
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 1,
      retry_timeout: 3,
      synchronous_mode: true,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 100 } },
    },
    initdb: [{ encoding: "UTF8" }, "data-checksums"],
    pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    bin_dir: programs,
    data_dir: join(folder, "data"),
    pgpass: join(folder, "pgpass"),
    authentication: {
      superuser: { username: "postgres", password: PASSWORD },
      replication: { username: "replicator", password: PASSWORD },
      rewind: { username: "rewinder", password: PASSWORD },
    },
    parameters: { unix_socket_directories: folder },
  },
})

/** Three PostgreSQL servers under Patroni, and one etcd, all on this machine. */
export const startPatroni = Effect.gen(function* () {
  const owner = account()
  const running = new Map<string, ChildProcess>()
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "tocsin-patroni-")))
  const own = (path: string) => Effect.promise(async () => owner && (await chown(path, owner.uid, owner.gid)))
  yield* own(folder)
  const run = (name: string, program: string, ...args: ReadonlyArray<string>) =>
    running.set(name, spawn(program, args, { cwd: folder, stdio: "ignore", detached: true, ...owner }))
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { pid } of running.values()) if (pid !== undefined) killGroup(pid)
      for (const place of places) await killServer(place)
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    }),
  )
  const port = Effect.promise(freePort)
  const [client, peer] = [yield* port, yield* port]
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  const etcd = {
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": clientUrl,
    "advertise-client-urls": clientUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
  }
  run("etcd", ETCD, ...Object.entries(etcd).map(([name, value]) => `--${name}=${value}`))
  const places: ReadonlyArray<Place> = yield* Effect.forEach(["one", "two", "three"], (name) =>
    Effect.gen(function* () {
      const place = { name, folder: join(folder, name), port: yield* port, api: yield* port }
      yield* Effect.promise(async () => {
        await mkdir(place.folder, { mode: 0o700 })
        await writeFile(`${place.folder}.yaml`, JSON.stringify(configOf(place, client)), { mode: 0o644 })
      })
      yield* own(place.folder)
      return place
    }),
  )
  const start = ({ folder: of, name }: Place) => Effect.sync(() => void run(name, PATRONI, `${of}.yaml`))
  yield* Effect.forEach(places, start, { discard: true })

  const primary = Effect.promise(async () => {
    for (const place of places) if (await is(place, "primary")) return place
    return undefined
  })
  const isComplete = Effect.promise(async () => {
    for (const place of places) if (await is(place, "primary")) return isSynchronous(place, places.length)
    return false
  })
  yield* until("three servers replicate", isComplete, "2 minutes")
  let killed: Place | undefined
  const failOver = Effect.gen(function* () {
    const lost = yield* until("there is a primary", primary)
    killed = lost
    const { pid } = running.get(lost.name) ?? {}
    if (pid !== undefined) killGroup(pid)
    yield* Effect.promise(() => killServer(lost))
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
  const hosts = places.map((place) => `127.0.0.1:${place.port}`).join(",")
  const url = `postgres://postgres:${PASSWORD}@${hosts}/postgres?target_session_attrs=read-write`
  return { url, isSynchronous: true, failOver, repair } satisfies Cluster
})

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

const answerOf = (api: number, path: string): Promise<Response | undefined> =>
  fetch(`http://127.0.0.1:${api}/${path}`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)

const is = async ({ api }: Place, role: "primary"): Promise<boolean> =>
  (await answerOf(api, role))?.status === 200

/** Whether all members run, and one standby is synchronous. */
const isSynchronous = async ({ api }: Place, members: number): Promise<boolean> => {
  const found: unknown = await (await answerOf(api, "cluster"))?.json()
  if (!Predicate.hasProperty(found, "members") || !Array.isArray(found.members)) return false
  const roles = found.members.filter(({ state }) => state === "running" || state === "streaming")
  return roles.length === members && roles.some(({ role }) => role === "sync_standby")
}
