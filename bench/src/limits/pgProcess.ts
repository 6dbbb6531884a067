/**
 * The statements of the PostgreSQL limit through `pg`, by clients that have one statement in flight
 * each.
 */
import pg from "pg"
import { LatencyHistogram } from "../load/LatencyHistogram.ts"
import { answerCommands } from "../processes/answerCommands.ts"
import type { UpsertCommand, UpsertReply } from "./UpsertCommand.ts"
import { UPSERT_AGENTS, upsertStatement } from "./upserts.ts"

const upsertUntil = async (
  { url, rows, clients, seconds }: UpsertCommand,
  client: number,
  latencies: LatencyHistogram,
): Promise<void> => {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  const text = upsertStatement(rows, "$1", "$2")
  // Clients use different agents, so that none waits for another's row.
  const own = Math.max(1, Math.floor(UPSERT_AGENTS / clients))
  const end = performance.now() + seconds * 1000
  for (let turn = 0, start = performance.now(); start < end; turn += 1) {
    await connection.query({ name: "upsert", text, values: [client * own + (turn % own), turn] })
    const now = performance.now()
    latencies.record(now - start)
    start = now
  }
  await connection.end()
}

answerCommands<UpsertCommand, UpsertReply>(async (command) => {
  const latencies = new LatencyHistogram()
  const start = performance.now()
  await Promise.all(
    Array.from({ length: command.clients }, (_, client) => upsertUntil(command, client, latencies)),
  )
  const seconds = (performance.now() - start) / 1000
  return {
    rows: latencies.count * command.rows,
    seconds,
    p50Millis: latencies.quantile(0.5),
    p99Millis: latencies.quantile(0.99),
  }
})
