import process from "node:process"
import { parseArgs } from "node:util"
import { fullSize, type SeedSize } from "./SeedSize.ts"

const USAGE = `Fills an empty storage with rows as years of use would leave them, through SQL.

  node bench/seed/main.ts --database postgres://…  |  --file tocsin.db
    --agents ${fullSize.agents} --checks ${fullSize.checks} --history ${fullSize.history}
    --incidents ${fullSize.incidents} --outbox ${fullSize.outbox}   (these are the defaults)`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    file: { type: "string" },
    agents: { type: "string" },
    checks: { type: "string" },
    history: { type: "string" },
    incidents: { type: "string" },
    outbox: { type: "string" },
    help: { type: "boolean" },
  },
})

const count = (name: keyof SeedSize): number => Number(values[name] ?? fullSize[name])

const started = performance.now()
const options = {
  size: {
    agents: count("agents"),
    checks: count("checks"),
    history: count("history"),
    incidents: count("incidents"),
    outbox: count("outbox"),
  },
  now: BigInt(Date.now()) * 1000n,
  report: (step: string) =>
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${step}\n`),
}

const { database, file } = values
if (database !== undefined && file === undefined) {
  const { seedPostgres } = await import("./seedPostgres.ts")
  await seedPostgres(database, options)
} else if (file !== undefined && database === undefined) {
  const { seedSqlite } = await import("./seedSqlite.ts")
  await seedSqlite(file, options)
} else {
  process.stderr.write(`${USAGE}\n`)
  process.exitCode = values.help === true ? 0 : 2
}
