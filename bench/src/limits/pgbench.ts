import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Predicate } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import type { UpsertCommand, UpsertReply } from "./UpsertCommand.ts"
import { UPSERT_AGENTS, upsertStatement } from "./upserts.ts"

const THREADS = 2

// Its time includes connecting, but its rate does not.
const CONNECT_SECONDS = 1

const script = ({ rows, clients }: UpsertCommand): string => {
  const last = Math.max(1, Math.floor(UPSERT_AGENTS / clients)) - 1
  return [
    // Clients use different agents, so that none waits for another's row.
    `\\set agent :client_id * ${last + 1} + random(0, ${last})`,
    "\\set time random(1, 1000000000000)",
    upsertStatement(rows, ":agent", ":time").trim().replaceAll("\n", " "),
    "",
  ].join("\n")
}

const COMPLAINT_CHARACTERS = 500

/** Its output only: the arguments contain the password. */
const complaintOf = (cause: unknown): string =>
  (Predicate.hasProperty(cause, "stderr") ? String(cause.stderr) : String(cause)).slice(
    0,
    COMPLAINT_CHARACTERS,
  )

/** The same upserts by pgbench, with prepared statements. */
export const pgbench = Effect.fnUntraced(function* (program: string, command: UpsertCommand, folder: string) {
  const file = join(folder, `upserts-${command.rows}.sql`)
  writeFileSync(file, script(command))
  const { clients, seconds, url } = command
  const shape = ["-n", "-M", "prepared", "-c", clients, "-j", Math.min(THREADS, clients)]
  const args = [...shape, "-T", Math.ceil(seconds) + CONNECT_SECONDS, "-f", file, url]
  const { stdout } = yield* Effect.tryPromise({
    try: () => promisify(execFile)(program, args.map(String)),
    catch: (cause) => new BenchFailure({ message: `pgbench failed: ${complaintOf(cause)}` }),
  })
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1])
  if (!(perSecond > 0)) return yield* new BenchFailure({ message: `pgbench measured nothing: ${stdout}` })
  const transactions = Number(/actually processed: (\d+)/.exec(stdout)?.[1])
  const reply: UpsertReply = { rows: transactions * command.rows, seconds: transactions / perSecond }
  return reply
})
