/** The limit of a durable answer from SQLite: commits of one inserted row each, synced to disk. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { LatencyHistogram } from "../load/LatencyHistogram.ts"
import { answerCommands } from "../processes/answerCommands.ts"
import type { CommitTimes, SyncedCommits } from "./SyncedCommits.ts"

const COMMITS_PER_LOOK = 10
const NOTE_CHARACTERS = 200

const open = (folder: string): DatabaseSync => {
  const database = new DatabaseSync(join(folder, "commits.db"))
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  database.exec("CREATE TABLE IF NOT EXISTS commits (seq INTEGER PRIMARY KEY, note TEXT NOT NULL)")
  return database
}

answerCommands<SyncedCommits, CommitTimes>(({ folder, seconds }) => {
  const database = open(folder)
  const insert = database.prepare("INSERT INTO commits (note) VALUES (?)")
  const note = "n".repeat(NOTE_CHARACTERS)
  const latencies = new LatencyHistogram()
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    for (let commit = 0; commit < COMMITS_PER_LOOK; commit += 1) {
      const start = performance.now()
      insert.run(note)
      latencies.record(performance.now() - start)
    }
  }
  database.close()
  return Promise.resolve({
    commits: latencies.count,
    p50Millis: latencies.quantile(0.5),
    p99Millis: latencies.quantile(0.99),
  })
})
