import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect, Redacted } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { whyNotIsolated } from "../deploy/Container.ts"
import { ISOLATOR, minimal, whyNoRootMaker } from "../deploy/roots.ts"
import { historyOf } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import type { Environment } from "../processes/secrecy.ts"
import { until } from "../processes/until.ts"
import { whyNotAtLength } from "../properties/atLength.ts"
import { keptOf, mailbox, openOf, startMailServer } from "./mailbox.ts"
import { MAIL_PACKAGES, mailPrograms } from "./mailPrograms.ts"

const obstacle =
  whyNotAtLength ?? (process.platform === "linux" ? whyNotIsolated() : "this is no Linux") ?? whyNoRootMaker

/** A script in a Debian of its own, which ends with the scope; its further commands are written to it. */
const inDebian = Effect.fnUntraced(function* (script: string) {
  const folder = yield* scratchFolder
  const made = `
set -eu
${minimal(`--include=${MAIL_PACKAGES}`)}root=$SCRATCH/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
hostname vm
exec chroot "$root" sh -c "$SCRIPT"
`
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(ISOLATOR, ["--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", made], {
        env: { PATH: process.env["PATH"], SCRATCH: folder, SCRIPT: script },
        stdio: ["pipe", "inherit", "inherit"],
      }),
    ),
    (started) =>
      Effect.promise(async () => {
        const ended = once(started, "exit")
        started.kill("SIGKILL")
        await ended
      }),
  )
  return (line: string) => Effect.sync(() => void child.stdin.write(`${line}\n`))
})

const PROGRAMS = ["cron", "monit", "unattended-upgrades"]

/** A busy machine makes a Debian in a quarter of an hour. */
const INSTALLATION = "25 minutes"

const lifeOn = Effect.fnUntraced(function* (storage: Environment) {
  const cwd = yield* scratchFolder
  const [port, relay] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
  const environment = { ...storage, SERVICE_MAIL_PORT: String(port) }
  let server = yield* startMailServer(cwd, environment)
  // Cron says nothing of a job that is well but what it printed.
  const address = yield* mailbox(server, "box", { rules: [{ match: { body: "all saved" }, status: "ok" }] })
  const say = yield* inDebian(mailPrograms({ address, port, relay }))
  const open = Effect.suspend(() => openOf(server, "box"))
  yield* until(
    "each program has an open incident",
    Effect.map(open, ({ length }) => length === PROGRAMS.length),
    INSTALLATION,
  )
  const firstOpen = yield* open
  yield* server.kill
  server = yield* startMailServer(cwd, environment)
  const applied = Effect.map(keptOf(server, "box"), (kept) =>
    kept.flatMap(({ by = "", outcome }) => (outcome === "applied" ? [by] : [])),
  )
  const repeated = Effect.map(applied, (all) =>
    ["cron", "monit"].every((by) => all.filter((one) => one === by).length > 1),
  )
  yield* until("cron and monit have repeated theirs", repeated)
  assert.deepStrictEqual((yield* open).toSorted(), firstOpen.toSorted())
  yield* say("touch /repaired")
  yield* say("upgrade 3")
  yield* until(
    "no incident is open",
    Effect.map(open, ({ length }) => length === 0),
  )
  const changes = new Map<string, string>()
  for (const { check_id, status } of (yield* historyOf(server)).toReversed())
    changes.set(check_id, `${changes.get(check_id) ?? ""} ${status}`)
  assert.lengthOf(Array.from(changes), PROGRAMS.length)
  for (const [check, statuses] of changes) assert.strictEqual(statuses, " critical ok", check)
})

describe(`cron, monit and unattended-upgrades behind Postfix${skippedFor(obstacle)}`, () => {
  it.live("open, repeat and resolve incidents on SQLite, over a crash of the server", () =>
    obstacle === undefined ? lifeOn({}) : Effect.void,
  )
  it.live("open, repeat and resolve incidents on PostgreSQL, over a crash of the server", () =>
    obstacle === undefined
      ? Effect.flatMap(scratchPostgres, ({ url }) => lifeOn({ DATABASE_URL: Redacted.value(url) }))
      : Effect.void,
  )
})
