import { expectedChecks } from "@tocsin/core/heart/overdue/expectedChecks"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { inspectStorage as inspectPostgres } from "@tocsin/adapter-pg/inspection/inspectStorage"
import { inspectStorage as inspectSqlite } from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import { AuditId } from "@tocsin/contract/audit/Audit"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import { MailId } from "@tocsin/contract/integrations/Mails"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import { jsonColumns } from "@tocsin/core/kernel/model/TableShape"
import { assert, describe, it } from "@effect/vitest"
import {
  checkRecord,
  agentRecord,
  incidentRecord,
  memberRecord,
  outboxRecord,
  write,
} from "@tocsin/testing/records"
import { newPlace, type Replica } from "@tocsin/testing/Replica"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { eventOf, heartbeatOf, keyOf, start, START_MILLIS } from "@tocsin/testing/samples"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Context, Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { inTurn } from "../properties/atLength.ts"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { migratedFolder, storageInFolder } from "./migratedFolder.ts"
import { ScratchFolder } from "./ScratchFolder.ts"

const COLUMNS = copiedTables
  .flatMap((table) => jsonColumns(table).map(({ kind, name }) => ({ table: table.name, column: name, kind })))
  .map((column, nth) => ({ ...column, nth }))

/** JSON that is neither an object nor a list, and that of the other kind. */
const wrongFor = (kind: "object" | "array"): ReadonlyArray<string> => [
  "0",
  "null",
  '"text"',
  kind === "object" ? "[1]" : '{"a":1}',
]

interface Damageable<Place> extends StorageUnderTest<Place> {
  /** Runs a statement at a place, past the storage. */
  readonly execute: (
    place: Context.Context<Place>,
    sql: string,
  ) => Effect.Effect<unknown, unknown, Scope.Scope>
  readonly damaged: (place: Context.Context<Place>) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** Texts that this storage also accepts. */
  readonly moreWrong: ReadonlyArray<string>
}

const fileIn = (place: Context.Context<ScratchFolder>) =>
  join(Context.get(place, ScratchFolder).path, "tocsin.db")

const sqlite: Damageable<ScratchFolder> = {
  name: "SQLite",
  place: migratedFolder,
  client: storageInFolder(),
  execute: (place, sql) =>
    Effect.sync(() => {
      const database = new DatabaseSync(fileIn(place))
      database.exec(sql)
      database.close()
    }),
  damaged: (place) => Effect.map(inspectSqlite(fileIn(place)), ({ damaged }) => damaged),
  moreWrong: ["", "{"],
}

const postgres: Damageable<EmptiedPostgres> = {
  name: "PostgreSQL",
  place: EmptiedPostgres.layerOfFile(),
  client: EmptiedPostgres.client,
  execute: (place, text) => Context.get(place, EmptiedPostgres).sql.unsafe(text),
  damaged: (place) =>
    Effect.map(inspectPostgres({ url: Context.get(place, EmptiedPostgres).url }), ({ damaged }) => damaged),
  moreWrong: [],
}

const idOf = (name: string): string => uuidV7(BigInt(START_MILLIS), name)

/** A row in every table that has JSON. */
const fill = Effect.fnUntraced(function* (replica: Replica) {
  const { agent_id, registration_id } = agentRecord("a")
  const check_id = CheckId.make("disk")
  yield* write(replica, [], (unit) => {
    unit.agents.put(agentRecord("a", { labels: { team: "web" } }))
    unit.checks.put(checkRecord(agentRecord("a"), "disk"))
    unit.incidents.put(incidentRecord("x"))
    unit.members.put(memberRecord({ incident: "x", agent: "a", check: "disk" }))
    unit.expectations.put({
      ...checkRecord({ agent_id, registration_id }, "disk"),
      origin: "agent",
      terms: { after_millis: 1_000, severity: "critical", notifications_enabled: true },
      expected_from: start,
      running_since: undefined,
      next_evaluation_at: undefined,
      incident_id: incidentRecord("x").id,
      alone_due_at: undefined,
    })
    unit.of("check_label").put({
      agent_id,
      registration_id,
      check_id,
      labels: { team: "web" },
      title: undefined,
      given_title: undefined,
      declared_title: undefined,
      labelled_at: start,
    })
    unit.of("listed_check").put({
      agent_id,
      registration_id,
      check_id,
      state: "listed",
      next_evaluation_at: undefined,
      spans: [],
    })
    unit.of("place").put({ agent_id, asked_at: start, leaving: {} })
    unit.of("kept_mail").put({
      id: MailId.make(idOf("mail")),
      integration: agent_id,
      received_at: start,
      sender: "root@nas.example",
      subject: "",
      outcome: "applied",
      decided_by: "prefix",
      check_id: undefined,
      status: undefined,
      reason: undefined,
      mail: { sender: "", fields: [], text: "" },
    })
    unit
      .of("job_run")
      .put({ agent_id, registration_id, check_id, starts: [{ rid: "", at: 1 }], log: undefined })
    unit.outbox.put(outboxRecord("item", "x", { holds: [{ by: "ack" }], next_evaluation_at: start }))
    unit.of("monthly_report").put({
      name: "office 2026-01",
      id: idOf("report"),
      state: "waiting",
      due_at: start,
      attempts: 0,
      next_attempt_at: undefined,
      recipients: undefined,
      last_error: undefined,
    })
    unit.of("replica").put({
      id: idOf("replica"),
      version: "1.0.0",
      policy_hash: "",
      receivers: [],
      probes: false,
      agent_sha256: undefined,
      known_names: undefined,
      started_at: start,
      seen_at: start,
      ended_at: start,
    })
    unit.of("integration").put({
      name: agent_id,
      title: undefined,
      kind: "ping",
      options: { max_checks: 1 },
      key_hash: undefined,
      former_key_hash: undefined,
      former_valid_until: undefined,
      created_at: start,
      created_by: "eva",
      last_request_at: undefined,
      last_refused_at: undefined,
      last_refusal: undefined,
      sources: [],
    })
    unit.of("watch").put({
      name: CheckId.make("home"),
      title: undefined,
      every_millis: 60_000,
      confirm: { bad: 3, good: 1 },
      probe: { dns: { name: "home.example" } },
      headers: undefined,
      places: undefined,
      labels: undefined,
      origin: "operator",
      paused_until: undefined,
      created_at: start,
      created_by: "eva",
      next_probe_at: start,
      probed_at: undefined,
      status: undefined,
      output: undefined,
      counted: undefined,
      counted_at: undefined,
      against: 0,
    })
    unit.of("silence").put({
      id: SilenceId.make(idOf("silence")),
      matchers: [{ field: "check_id", op: "=", value: "disk" }],
      starts_at: start,
      ends_at: start,
      comment: "",
      created_by: "eva",
      created_at: start,
    })
    unit.of("receiver_secrets").put({
      name: NotifierName.make("chat"),
      keys: ["url"],
      ciphertext: "",
      key_id: "0a1b2c3d",
      changed_by: "eva",
      changed_at: start,
    })
    unit.of("announcement").put({
      id: AnnouncementId.make(idOf("announcement")),
      page: "public",
      kind: "notice",
      title: "",
      text: "",
      lines: [],
      starts_at: start,
      ends_at: undefined,
      updates: [],
      created_by: "eva",
      created_at: start,
    })
    unit.of("rota_override").put({
      id: OverrideId.make(idOf("override")),
      rota: NotifierName.make("primary"),
      receivers: [NotifierName.make("bob")],
      starts_at: start,
      ends_at: start,
      note: undefined,
      created_by: "eva",
      created_at: start,
    })
    unit.of("flood_minute").put({
      receiver: NotifierName.make("bob"),
      event_type: "firing",
      began_at: start,
      singly: [],
      worst: "critical",
      waits: false,
    })
    unit.recordAudit({
      id: AuditId.make(idOf("audit")),
      recorded_at: start,
      actor: "eva",
      via: "cli",
      action: "silence.created",
      subjects: [{ kind: "silence", id: idOf("silence") }],
      parameters: { comment: "" },
      request_id: undefined,
    })
  })
})

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : value === null ? "null" : typeof value

const describeDamage = <Place>(subject: Damageable<Place>): void => {
  describe(`a stored value that is not of its kind, on ${subject.name}`, () => {
    it.effect.each(COLUMNS)("spoils no list, and the doctor names its row: $column of $table", (damage) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const place = yield* Layer.build(Layer.fresh(subject.place))
        const open = yield* newPlace({ ...subject, place: Layer.succeedContext(place) })
        yield* Effect.scoped(Effect.flatMap(open, fill))
        assert.deepStrictEqual(yield* subject.damaged(place), [])
        const { column, kind, nth, table } = damage
        for (const wrong of inTurn([...wrongFor(kind), ...subject.moreWrong], nth)) {
          yield* Effect.scoped(subject.execute(place, `UPDATE ${table} SET ${column} = '${wrong}'`))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const replica = yield* open
              for (const list of listNames) yield* rowsOf(replica, list)
              const { queries } = replica
              const [agent] = (yield* queries.agents({ limit: 10 })).items
              assert.strictEqual(kindOf(agent?.features), "object")
              // PostgreSQL's driver reads the JSON value null as no value.
              assert.include(["object", "undefined"], kindOf(agent?.labels))
              const [silence] = yield* rowsOf(replica, "silences")
              assert.strictEqual(kindOf(silence?.matchers), "array")
              const [entry] = (yield* queries.audit({ limit: 10 })).items
              assert.strictEqual(kindOf(entry?.subjects), "array")
              assert.include(["object", "undefined"], kindOf(entry?.parameters))
              const [watch] = (yield* replica.watches.list({ limit: 10 })).items
              assert.strictEqual(kindOf(watch?.confirm.bad), "number")
              assert.strictEqual(kindOf((yield* replica.storage.replicas)[0]?.receivers), "array")
              assert.lengthOf(
                (yield* expectedChecks(replica.storage, String, { limit: 10, is_overdue: true })).items,
                1,
              )
              yield* replica.ingest.events(keyOf("a"), { agent_id: AgentId.make("a"), events: [eventOf(1)] })
              yield* replica.ingest.heartbeat(keyOf("a"), heartbeatOf("a", { labels: { team: "web" } }))
            }),
          )
          const [named] = yield* subject.damaged(place)
          // The agent's next request replaces these values.
          if (table !== "agent" && table !== "check_state") assert.include(named, `${table}.${column} of `)
          yield* Effect.scoped(subject.execute(place, `UPDATE ${table} SET ${column} = '${wrong}'`))
          assert.include((yield* subject.damaged(place))[0], `${table}.${column} of `)
        }
      }),
    )
  })
}

describeDamage(sqlite)
describeDamage(postgres)
