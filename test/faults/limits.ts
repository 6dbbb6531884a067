import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { Effect } from "effect"
import { call } from "../processes/api.ts"
import { EVERYWHERE, type Fault, type Setup, type Site, type Stage } from "./Fault.ts"

const ONE_SERVER: ReadonlyArray<Setup> = ["sqlite", "postgres"]

const PRLIMIT = "/usr/bin/prlimit"

const groupsFolder = "/sys/fs/cgroup"
/** Of version 1, which has a folder for each kind of limit, or of version 2. */
const memoryGroups = existsSync(`${groupsFolder}/memory`) ? `${groupsFolder}/memory` : groupsFolder
const limitFile = memoryGroups === groupsFolder ? "memory.max" : "memory.limit_in_bytes"

/** A group of processes that may have 256 MiB, removed after the last of them has ended. */
const smallGroup = ({ index, port }: Site) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const group = join(memoryGroups, `tocsin-faults-${port}-${index}`)
      mkdirSync(group)
      writeFileSync(join(group, limitFile), String(256 * 1024 * 1024))
      return group
    }),
    (group) =>
      Effect.sync(() => {
        for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) {
          process.kill(Number(pid), "SIGKILL")
        }
      }).pipe(
        Effect.andThen(
          Effect.retry(
            Effect.try(() => rmdirSync(group)),
            { times: 20 },
          ),
        ),
        Effect.ignore,
      ),
  )

/** Reads long lists from every server, again and again. */
const readLists = ({ places }: Stage) =>
  Effect.forEach(
    places,
    (place) => Effect.forever(Effect.ignore(call(place, "GET", "/api/v1/events/query?limit=500"))),
    { concurrency: "unbounded", discard: true },
  )

/** More connections than the server has descriptors for. */
const connectOften = ({ places }: Stage) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      places.flatMap(({ port }) =>
        Array.from({ length: 200 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => {})),
      ),
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      }),
  )

const restart = Effect.fnUntraced(function* (stage: Stage) {
  const place = yield* stage.anyPlace
  yield* place.process().stop
  yield* stage.isOver
  yield* place.start
})

/** Machines that give little, and are set up in odd ways. */
export const limitFaults: ReadonlyArray<Fault> = [
  {
    name: "256 MiB of memory",
    cause: "a control group with a limit of 256 MiB, and long lists read again and again; for 10 s",
    seen: "Nothing: the server stays below the limit.",
    setups: ONE_SERVER,
    rounds: 1,
    missing: () =>
      process.getuid?.() === 0 && existsSync(memoryGroups) ? undefined : "only root can make control groups",
    prepare: Effect.succeed({
      conditions: (site) =>
        Effect.map(smallGroup(site), (group) => ({
          through: ["/bin/sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', group],
        })),
      inflict: (stage) => Effect.asVoid(Effect.timeoutOption(readLists(stage), "10 seconds")),
    }),
  },
  {
    name: "128 file descriptors",
    cause: "`prlimit --nofile=128`, and 200 idle connections for 5 s",
    seen: "New connections are closed without an answer while all descriptors are in use.",
    setups: ONE_SERVER,
    rounds: 1,
    missing: () => (existsSync(PRLIMIT) ? undefined : "install prlimit (util-linux)"),
    prepare: Effect.succeed({
      conditions: () => Effect.succeed({ through: [PRLIMIT, "--nofile=128"] }),
      inflict: (stage) => Effect.andThen(connectOften(stage), Effect.sleep("5 seconds")),
    }),
  },
  {
    name: "odd time zone and locale",
    cause: "`TZ=Pacific/Chatham LC_ALL=tr_TR.UTF-8`, and a restart",
    seen: "Nothing.",
    setups: ONE_SERVER,
    rounds: 1,
    prepare: Effect.succeed({
      conditions: () =>
        Effect.succeed({
          environment: { TZ: "Pacific/Chatham", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
        }),
      inflict: restart,
    }),
  },
  {
    name: "log pipe closed",
    cause: "the reader of standard output and standard error ends, and 3 s later a restart",
    seen: "Log lines are lost. Nothing else.",
    setups: EVERYWHERE,
    rounds: 1,
    prepare: Effect.succeed({
      inflict: Effect.fnUntraced(function* (stage) {
        yield* Effect.forEach(stage.places, (place) => place.process().closeOutput)
        yield* Effect.sleep("3 seconds")
        yield* restart(stage)
      }),
    }),
  },
]
