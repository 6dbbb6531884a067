import process from "node:process"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Numbers } from "@tocsin/core/lists/Numbers"
import { StoredSecrets } from "@tocsin/core/lists/StoredSecrets"
import { Effect, Layer, Redacted, Result } from "effect"
import { CommandFailure } from "../CommandFailure.ts"
import { Output, writeResult } from "../output/Output.ts"
import { type Column, tableText, withoutSecrets } from "../output/texts.ts"
import {
  commandSettings,
  examinedSettings,
  type SettingProblem,
  doubtfulSettings,
} from "../settings/checkedSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { isSecureAddress } from "../settings/settingTypes.ts"
import { databaseFile, storageLayer, storageName, storageOfModule, type StorageSettings } from "../storage.ts"
import {
  examineWatchdog,
  examineDelivery,
  examineReceivers,
  examineStoredReceivers,
  type ExaminedReceivers,
  linkFindings,
  sourceFindings,
} from "./doctor/examineNotifiers.ts"
import { examineSqlite } from "./doctor/examineStorage.ts"
import { examineIntegrations, examineJobs } from "../features/integrations/examineIntegrations.ts"
import { examineNumbers } from "../features/numbers/examineNumbers.ts"
import { examineOnCall, examineOverrides } from "../features/onCall/examineOnCall.ts"
import { publicUrlIn } from "../features/settings/publicUrlIn.ts"
import { examineIssuer } from "../features/signIn/examineIssuer.ts"
import { examineMatchers } from "./doctor/examineMatchers.ts"
import { examineBrowsers } from "../features/push/examineBrowsers.ts"
import { examineSecrets } from "../features/receivers/examineSecrets.ts"
import { examineTwice } from "./doctor/examineTwice.ts"
import { examineUse } from "./doctor/examineUse.ts"
import { examineZones } from "./doctor/examineZones.ts"
import {
  attention,
  attentionIf,
  type Finding,
  type Findings,
  failed,
  ok,
  okUnless,
  orFailed,
} from "./doctor/Finding.ts"
import { portsOfCommand } from "./UseCases.ts"
import { command } from "./define.ts"
import * as flags from "./flags.ts"

/** Whether a server could start with these settings, and which variables only look like settings. */
export const examineSettings = (
  problems: ReadonlyArray<SettingProblem>,
  unknown: ReadonlyArray<SettingProblem>,
): Findings => [
  ...(problems.length === 0 ? [ok("settings", "all settings are valid")] : problems.map(problemFinding)),
  ...unknown.map(({ message }) => attention("settings", message)),
]

const problemFinding = ({ message, isMissing }: SettingProblem) =>
  isMissing === true
    ? // It may be set for the server's process only.
      attention("settings", `${message}; ignore this if the server gets the setting elsewhere`)
    : failed("settings", `${message}; see tocsin serve --help`, "usage")

/** Guesses are throttled, but a correct one always succeeds, so a token must be beyond guessing. */
const SHORTEST_TOKEN = 16

/** Reports tokens that are easy to guess. */
export const examineTokens = (values: Partial<Settings>): Findings =>
  (["SERVICE_AUTH_TOKEN", "SERVICE_READ_TOKEN"] as const)
    .filter((name) => values[name]?.some((token) => Redacted.value(token).length < SHORTEST_TOKEN))
    .map((name) =>
      attention(
        "tokens",
        `${name} has a token of fewer than ${SHORTEST_TOKEN} characters, which is easy to guess: generate one with openssl rand -base64 32`,
      ),
    )

/** Reports which pages may call from browsers, if any may. */
const examineOrigins = ({ SERVICE_ALLOWED_ORIGINS: origins }: Partial<Settings>): Findings => {
  if (origins === undefined) return []
  const all = "pages of every origin may call the API: list the origins you trust in SERVICE_ALLOWED_ORIGINS"
  if (origins === "*") return [attention("browsers", all)]
  const plain = origins.filter((origin) => origin.startsWith("http://") && !isSecureAddress(origin))
  return [
    okUnless(
      plain.length > 0,
      "browsers",
      `pages of ${origins.join(", ")} may call`,
      `pages of ${plain.join(", ")} are not encrypted, which exposes the token they use: serve them over https`,
    ),
  ]
}

/** A server speaks http alone: where its public address has https, a proxy stands before it. */
export const examineProxies = ({ SERVICE_TRUST_PROXY, ...settings }: Partial<Settings>): Findings =>
  attentionIf(
    publicUrlIn(settings)?.startsWith("https:") === true && !(Number(SERVICE_TRUST_PROXY ?? 0) > 0),
    "proxies",
    "the public address has https, so a proxy stands before the server, and counts as the client of all requests: set SERVICE_TRUST_PROXY to the number of proxies",
  )

const COLUMNS: ReadonlyArray<Column<Finding>> = [
  { title: "CHECK", cell: ({ check }) => check },
  { title: "RESULT", cell: ({ level }) => level, isState: true },
  { title: "FOUND", cell: ({ message }) => message },
]

/** The storage, if its own settings are valid. */
const examineStorage = Effect.fnUntraced(function* (values: Partial<Settings>) {
  const { DATABASE_URL, SERVICE_DATA_DIR, SERVICE_KEY_PEPPER } = values
  const { pepperCheck } = yield* Effect.provide(Hashing, NodeHashing.layer({ pepper: SERVICE_KEY_PEPPER }))
  if (DATABASE_URL?.kind === "postgres") {
    const { examinePostgres } = yield* Effect.promise(() => import("./doctor/examinePostgres.ts"))
    return yield* examinePostgres(DATABASE_URL.url, pepperCheck)
  }
  if (DATABASE_URL?.kind === "memory") {
    return [attention("storage", "memory: data is lost when the server stops; unset DATABASE_URL to keep it")]
  }
  if (SERVICE_DATA_DIR === undefined) return []
  const { extensions } = values
  const settings = { DATABASE_URL, SERVICE_DATA_DIR, extensions }
  return storageOfModule(settings) === undefined
    ? yield* examineSqlite(databaseFile(settings), pepperCheck)
    : yield* examineOwn(settings, pepperCheck)
})

/** The storage of a module: this command opens it, which fails while a server has it. */
const examineOwn = (settings: StorageSettings, pepperCheck: string) => {
  const examined = Effect.gen(function* () {
    const storage = yield* Storage
    const found = ok("storage", storageName(settings))
    const heartbeat = yield* storage.serviceHeartbeat
    if (heartbeat === undefined)
      return [
        found,
        attention("schema", "no Tocsin data yet: start the server, or correct where the module keeps it"),
      ]
    // A server has established one, so that this writes nothing.
    const kept = yield* storage.establish("pepper_check", pepperCheck)
    const used = { serviceHeartbeatAt: heartbeat.beat_at, pepperCheck: kept }
    return [
      found,
      ok("schema", "that of a key-value store, which needs none"),
      ...examineUse(used, { now: yield* Instant.now, pepperCheck }),
    ]
  })
  return orFailed("storage", Effect.provide(examined, storageLayer(settings)))
}

const isFailed = ({ level }: Finding): boolean => level === "failed"

/** Whether commands can open the storage. */
const isInOrder = (storage: Findings): boolean =>
  !storage.some(isFailed) && storage.some(({ check, level }) => check === "schema" && level === "ok")

const examineAll = Effect.fnUntraced(function* (isTested: boolean) {
  const { values, problems } = examinedSettings(process.env)
  const isStorageKnown = !problems.some(
    ({ name }) => name === "DATABASE_URL" || name === "SERVICE_KEY_PEPPER",
  )
  const settings = Result.getOrUndefined(commandSettings(process.env))
  const storage: Findings = isStorageKnown ? yield* examineStorage(values) : []
  const common = [
    ...examineSettings(problems, doubtfulSettings(process.env)),
    ...examineTokens(values),
    ...storage,
  ]
  // Invalid settings are reported with the others.
  if (settings === undefined) return [...common, ...examineOrigins(values)]
  const { receivers, rows, stored } = yield* examineRows(settings, isInOrder(storage), isTested)
  return [
    ...common,
    ...rows,
    ...examineOrigins(values),
    ...examineProxies({ ...values, stored }),
    ...(yield* examineIssuer(settings)),
    ...receivers.findings,
    ...linkFindings({ ...settings, stored }, receivers.document),
    ...(yield* examineWatchdog(settings, isTested)),
  ]
})

const EXAMINED = Layer.mergeAll(Integrations.layer, Numbers.layer, OnCall.layer, StoredSecrets.layer)

/** The receivers, rows and stored settings, where the storage and the policy are in order. */
const examineRows = Effect.fnUntraced(function* (settings: Settings, isOpened: boolean, isTested: boolean) {
  const isStored = isOpened && settings.SERVICE_POLICY_FILE === undefined
  const given = isStored ? undefined : yield* examineReceivers(settings, isTested)
  const unread = (rows: Findings) => ({ receivers: given ?? NO_RECEIVERS, rows, stored: undefined })
  if (given?.findings.some(isFailedPolicy) === true) return unread([])
  if (given !== undefined && !isOpened) return unread(sourceFindings(given, []))
  return yield* Effect.gen(function* () {
    const receivers = given ?? (yield* examineStoredReceivers(settings, isTested))
    const { stored } = yield* RuleSettings
    return { receivers, rows: yield* examineStored(receivers, settings), stored }
  }).pipe(
    Effect.provide(Layer.provideMerge(EXAMINED, portsOfCommand)),
    Effect.catch(({ message }) => Effect.succeed(unread([failed("storage", message, "storage")]))),
  )
})

const NO_RECEIVERS = { document: {}, findings: [], names: [], source: "this shell's settings" } as const

const isFailedPolicy = (finding: Finding): boolean => finding.check === "policy" && isFailed(finding)

/** The findings about rows, as far as these can be read. */
const examineStored = Effect.fnUntraced(function* (receivers: ExaminedReceivers, settings: Settings) {
  return [
    ...(yield* orFailed("delivery", examineDelivery(receivers))),
    ...(yield* orFailed("jobs", examineJobs)),
    ...(yield* orFailed("on call", examineOverrides)),
    ...(yield* orFailed("matchers", examineMatchers)),
    ...(yield* orFailed("on call", examineOnCall)),
    ...(yield* orFailed("secrets", examineSecrets)),
    ...(yield* orFailed("browsers", examineBrowsers)),
    ...(yield* orFailed("time zones", examineZones)),
    ...(yield* orFailed("agents", examineTwice)),
    ...(yield* orFailed("integrations", examineIntegrations(settings))),
    ...(yield* orFailed("numbers", examineNumbers(settings.SERVICE_NUMBERS_SERIES))),
  ]
})

const verdict = (findings: Findings) => {
  const failures = findings.filter(isFailed)
  const [worst] = failures
  if (worst !== undefined)
    return new CommandFailure({
      exit: worst.exit ?? "failed",
      message: `${failures.length} of ${findings.length} checks failed`,
    })
  const noted = findings.filter(({ level }) => level === "attention").length
  return noted === 0
    ? undefined
    : new CommandFailure({
        exit: "attention",
        message: `it works; ${noted} of ${findings.length} checks need attention`,
      })
}

export const doctor = command({
  name: "doctor",
  description:
    "Check settings, storage, disk, clock, delivery and notifiers, and say what to do. The exit code is that of the worst finding",
  short: "Check settings, storage, disk, clock, delivery and notifiers",
  parameters: {
    sendTest: flags.flag(
      "send-test",
      "Send a message marked as a test through each notifier, and one watchdog ping",
    ),
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ sendTest, json }) {
    const output = yield* Output
    const findings = (yield* examineAll(sendTest)).map((finding) => ({
      ...finding,
      message: withoutSecrets(finding.message),
    }))
    const shown = findings.map(({ check, level, message }) => ({ check, level, message }))
    yield* writeResult(json, { findings: shown }, () =>
      tableText(COLUMNS, findings, { columns: undefined, hasColour: output.hasColour }),
    )
    const failure = verdict(findings)
    if (failure !== undefined) return yield* failure
  }),
})
