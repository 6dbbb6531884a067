import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { gunzipSync } from "node:zlib"
import { Effect } from "effect"
import pg from "pg"
import { BenchFailure } from "../BenchFailure.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { unusedPort } from "../processes/freePort.ts"
import { type Peer, type PeerOptions, programNamed, startProgram, versionOf } from "./Peer.ts"

/** Zabbix refuses ports above 32767. */
const [FIRST_PORT, PORTS] = [20_000, 10_000]

const SCHEMA = "/usr/share/zabbix-server-pgsql"

/** Hosts with trapper items, and a trigger for each item. */
const objectsOf = (agents: number) => `
UPDATE hosts SET status = 1 WHERE status = 0;
INSERT INTO hosts (hostid, host, name)
  SELECT 20000 + agent, 'agent-' || lpad(agent::text, 6, '0'), 'agent-' || lpad(agent::text, 6, '0')
  FROM generate_series(0, ${agents - 1}) AS agent;
INSERT INTO hosts_groups (hostgroupid, hostid, groupid)
  SELECT 900000 + hostid, hostid, 2 FROM hosts WHERE hostid >= 20000;
INSERT INTO items (itemid, type, hostid, name, key_, value_type)
  SELECT 1000000 + hostid * ${EVENTS_PER_BATCH} + one, 2, hostid,
         'check-' || lpad(one::text, 3, '0'), 'check-' || lpad(one::text, 3, '0'), 3
  FROM hosts, generate_series(0, ${EVENTS_PER_BATCH - 1}) AS one WHERE hostid >= 20000;
INSERT INTO item_rtdata (itemid) SELECT itemid FROM items WHERE itemid >= 1000000;
INSERT INTO triggers (triggerid, expression, description, priority)
  SELECT itemid, '{' || itemid || '}<>0', name || ' is critical', 4 FROM items WHERE itemid >= 1000000;
INSERT INTO functions (functionid, itemid, triggerid, name, parameter)
  SELECT itemid, itemid, itemid, 'last', '$' FROM items WHERE itemid >= 1000000;
`

/** Zabbix with PostgreSQL. It answers once values are in its memory, and stores them within seconds. */
export const zabbix = Effect.fnUntraced(function* ({
  agents,
  databaseUrl,
  folder,
}: PeerOptions & { readonly databaseUrl: string }) {
  const program = programNamed("zabbix_server")
  if (program === undefined || !existsSync(SCHEMA)) return undefined
  const database = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end()),
  )
  yield* Effect.promise(async () => {
    for (const file of ["schema", "images", "data"])
      await database.query(gunzipSync(readFileSync(join(SCHEMA, `${file}.sql.gz`))).toString())
    await database.query(objectsOf(agents))
  })
  const port = yield* Effect.promise(() => unusedPort(FIRST_PORT + (process.pid % PORTS)))
  const { hostname, password, pathname, port: databasePort, username } = new URL(databaseUrl)
  const sockets = join(folder, "sockets")
  mkdirSync(sockets)
  const config = join(folder, "zabbix_server.conf")
  const settings = {
    ListenIP: "127.0.0.1",
    ListenPort: port,
    LogFile: join(folder, "zabbix_server.log"),
    PidFile: join(folder, "zabbix_server.pid"),
    SocketDir: sockets,
    DBHost: hostname,
    DBPort: databasePort,
    DBName: pathname.slice(1),
    DBUser: username,
    DBPassword: password,
    AllowRoot: 1,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(config, lines.join(""))
  const pid = yield* startProgram(program, ["--foreground", "--config", config], { folder, port })
  const peer: Peer = {
    name: `Zabbix ${versionOf(program)}`,
    protocol: "zabbix",
    port,
    pid,
    steps: ["heartbeat", "unchanged", "changing"],
    stored: (step) =>
      Effect.tryPromise({
        try: async () => {
          const table = step === "changing" ? "events" : "history_uint"
          const { rows } = await database.query<{ count: string }>(`SELECT count(*) FROM ${table}`)
          return Number(rows[0]?.count)
        },
        catch: (cause) => new BenchFailure({ message: String(cause) }),
      }),
  }
  return peer
})
