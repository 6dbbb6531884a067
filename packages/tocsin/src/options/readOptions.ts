import { parseAllowedOrigins } from "@tocsin/adapter-http/request/AllowedOrigins"
import { KeyFingerprint } from "@tocsin/core/contract/Identifiers"
import { thresholdProblems } from "@tocsin/core/liveness/agentStatus"
import { defaultPolicy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { defaultDelivery } from "@tocsin/core/usecases/Delivery"
import type { RetentionOptions } from "@tocsin/core/usecases/Housekeeping"
import { Effect, Layer, Redacted, Result } from "effect"
import type { HttpOptions } from "../http/HttpApp.ts"
import type { BeatOptions, TocsinOptions } from "../layers/Tocsin.ts"
import { TocsinError } from "../TocsinError.ts"
import type { MonitorOptions, RetentionOption } from "./MonitorOptions.ts"
import { beatsOf } from "./beatsOf.ts"
import { metricsOf } from "./metricsOf.ts"
import { notifiersOf } from "./notifiersOf.ts"
import { Problems } from "./Problems.ts"

/** Options that were read and found right. */
export interface ReadOptions {
  readonly tocsin: TocsinOptions<StorageError, TocsinError<"options">, StorageError>
  readonly http: HttpOptions
  readonly delivers: boolean
  readonly keepsHouse: boolean
  /** Nothing where no beat is sent. */
  readonly beats: BeatOptions | undefined
}

const TOKEN = { pattern: /^[\x21-\x7e]{1,512}$/, expected: "1 to 512 visible ASCII characters" }
const FINGERPRINT = { pattern: /^[0-9a-f]{16}$/, expected: "16 lower-case hex digits" }
const BASE_PATH = /^(?:\/[^/?#\s]+)+$/

const KNOWN: Readonly<Record<keyof MonitorOptions, true>> = {
  storage: true,
  notifiers: true,
  uiTokens: true,
  readTokens: true,
  basePath: true,
  trustedProxies: true,
  allowedOrigins: true,
  metrics: true,
  staleAfter: true,
  deadAfter: true,
  heartbeatRate: true,
  registrationRate: true,
  maxPendingAgents: true,
  acceptFingerprints: true,
  retention: true,
  delivery: true,
  housekeeping: true,
  beat: true,
  deliveryLease: true,
  deliveryConcurrency: true,
  storageTimeout: true,
  keyPepper: true,
  denyPrivateTargets: true,
  log: true,
}

/** Reads options. Throws a {@link TocsinError} with code `options` that tells all that is wrong with them. */
export const readOptions = (options: MonitorOptions): ReadOptions => {
  const problems = new Problems()
  problems.unknown("", options, Object.keys(KNOWN))
  const storage = storageOf(options, problems)
  const lease = problems.duration("deliveryLease", options?.deliveryLease) ?? defaultDelivery.lease
  const notifiers = notifiersOf(options, lease, problems)
  const policy = policyOf(options ?? {}, problems)
  const retention = retentionOf(options?.retention, problems)
  const http = httpOf(options ?? {}, problems)
  const storageTimeout = problems.duration("storageTimeout", options?.storageTimeout)
  const pepper = problems.text("keyPepper", options?.keyPepper)
  const concurrency = concurrencyOf(options?.deliveryConcurrency, problems)
  const delivers = problems.flag("delivery", options?.delivery) ?? true
  const keepsHouse = problems.flag("housekeeping", options?.housekeeping) ?? true
  const beats = beatsOf(options ?? {}, problems)
  const { log } = options ?? {}
  if (log !== undefined && log !== false && typeof log !== "function") {
    problems.add("log must be a function, or false for no log")
  }
  if (problems.message !== undefined) throw new TocsinError("options", problems.message)
  return {
    tocsin: {
      ...storage,
      notifiers,
      policy,
      retention,
      delivery: { lease, concurrency },
      storageTimeout,
      pepper: pepper === undefined ? undefined : Redacted.make(pepper),
    },
    http,
    delivers,
    keepsHouse,
    beats,
  }
}

const MOST_ATTEMPTS_AT_ONCE = 1_000

const concurrencyOf = (given: number | undefined, problems: Problems): number => {
  const value = given === undefined ? defaultDelivery.concurrency : given
  if (Number.isSafeInteger(value) && value >= 1 && value <= MOST_ATTEMPTS_AT_ONCE) return value
  problems.add(`deliveryConcurrency must be an integer from 1 to ${MOST_ATTEMPTS_AT_ONCE}`)
  return defaultDelivery.concurrency
}

const storageOf = (
  options: MonitorOptions | undefined,
  problems: Problems,
): Pick<ReadOptions["tocsin"], "storage" | "clock"> => {
  const storage = options?.storage
  if (typeof storage === "object" && storage !== null) {
    if (!("layer" in storage)) {
      if (Layer.isLayer(storage)) return { storage }
    } else if (Layer.isLayer(storage.layer)) {
      for (const problem of storage.problems ?? []) problems.add(`storage: ${problem}`)
      return { storage: storage.layer, clock: storage.clock }
    }
  }
  problems.add(
    "storage must be memory(), sqlite(file), postgres(url), keyValue(…) or a layer of the port Storage",
  )
  return { storage: Layer.effectContext(Effect.die("never built: the options are refused")) }
}

const policyOf = (options: Partial<MonitorOptions>, problems: Problems): Partial<PolicyOptions> => {
  const staleAfter = problems.duration("staleAfter", options.staleAfter)
  const deadAfter = problems.duration("deadAfter", options.deadAfter)
  const thresholds = { ...defaultPolicy, ...withoutAbsent({ staleAfter, deadAfter }) }
  for (const problem of thresholdProblems(thresholds)) problems.add(problem)
  const fingerprints = problems.texts("acceptFingerprints", options.acceptFingerprints, FINGERPRINT)
  const given = {
    staleAfter,
    deadAfter,
    heartbeatRate: problems.rate("heartbeatRate", options.heartbeatRate),
    registrationRate: problems.rate("registrationRate", options.registrationRate),
    maxPendingAgents: problems.count("maxPendingAgents", options.maxPendingAgents),
    acceptFingerprints: new Set(fingerprints.map((text) => KeyFingerprint.make(text))),
  }
  return withoutAbsent(given)
}

/** What is absent must not replace a default. */
const withoutAbsent = <T extends object>(values: T): Partial<{ [K in keyof T]: NonNullable<T[K]> }> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<{
    // The same fields, without those that were undefined.
    [K in keyof T]: NonNullable<T[K]>
  }>

const RETENTION = { history: true, incidents: true, outbox: true, pending: true } as const

const retentionOf = (given: RetentionOption | undefined, problems: Problems): Partial<RetentionOptions> => {
  const options = problems.group("retention", given, RETENTION)
  const names = ["history", "incidents", "outbox", "pending"] as const
  const kept = names.flatMap((name) => {
    const value = options[name]
    if (value === undefined) return []
    return [[name, value === false ? undefined : problems.duration(`retention.${name}`, value)] as const]
  })
  return Object.fromEntries(kept)
}

const httpOf = (options: Partial<MonitorOptions>, problems: Problems): HttpOptions => {
  const redact = (texts: ReadonlyArray<string>) => texts.map((text) => Redacted.make(text))
  const { basePath = "" } = options
  if (basePath !== "" && !BASE_PATH.test(basePath)) {
    problems.add('basePath must be a path such as "/monitoring", without a slash at its end')
  }
  return {
    uiTokens: redact(problems.texts("uiTokens", options.uiTokens, TOKEN)),
    readTokens: redact(problems.texts("readTokens", options.readTokens, TOKEN)),
    trustedHops: problems.count("trustedProxies", options.trustedProxies) ?? 0,
    allowedOrigins: originsOf(options.allowedOrigins, problems),
    metrics: metricsOf(options.metrics, problems),
    basePath,
  }
}

const originsOf = (
  origins: MonitorOptions["allowedOrigins"],
  problems: Problems,
): HttpOptions["allowedOrigins"] => {
  if (origins === undefined) return undefined
  const given: ReadonlyArray<unknown> = Array.isArray(origins) ? origins : []
  const read = parseAllowedOrigins(given.map(String))
  if (Result.isSuccess(read)) return read.success
  problems.add(`allowedOrigins must be an array of ${read.failure}`)
  return undefined
}
