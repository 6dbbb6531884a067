import { parseAllowedOrigins } from "@tocsin/adapter-http/response/headerFields"
import * as HttpWatchdogReceiver from "@tocsin/adapter-notify/watchdog/HttpWatchdogReceiver"
import { mailTimeout, namedHost, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { parsePublicUrl, PUBLIC_URL } from "@tocsin/contract/formats/publicUrl"
import {
  asGiven,
  checked,
  type Complain,
  duration,
  flag,
  group,
  integer,
  type Reader,
  required,
  text,
  texts,
} from "@tocsin/client/options/readers"
import type { DurationOption } from "@tocsin/client"
import { SECRETS_KEYS, secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import { LINK_KEY } from "@tocsin/adapter-crypto/HmacLinkSigner"
import { TOKEN } from "@tocsin/contract/operators/BearerToken"
import { KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import { ruleProblems } from "@tocsin/core/heart/usecases/ruleProblems"
import {
  defaultRules,
  publicUrlOf,
  type RuleOptions,
  type StoredSettings,
} from "@tocsin/core/kernel/ports/RuleSettings"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { defaultDelivery } from "@tocsin/core/heart/usecases/Delivery"
import type { RetentionOptions } from "@tocsin/core/kernel/engine/commits/Retention"
import { Duration, Redacted, Result } from "effect"
import { secretProblems } from "@tocsin/adapter-notify/receiverSecrets"
import type { HttpOptions } from "../http/HttpApp.ts"
import type { TocsinOptions, WatchdogOptions } from "../layers/Tocsin.ts"
import { debug, type NotifierOption, notifierProblems, notifiersLayer } from "../notifiers/notifiers.ts"
import { isStorageChoice, layersOf, type StorageChoice } from "../storages/storages.ts"
import { type PolicyOption, readGivenPolicy, withReceivers } from "../policy/givenPolicy.ts"
import { TocsinError } from "../TocsinError.ts"
import { consoleOf } from "./consoleOption.ts"
import type { Log } from "./log.ts"
import { push, pushOf } from "./pushOption.ts"
import type { WatchdogOption, MonitorOptions, RateOption, RetentionOption } from "./MonitorOptions.ts"

/** Valid options with their defaults. */
export type ReadOptions = ReturnType<typeof readOptions>

const BASE_PATH = /^(?:\/[^/?#\s]+)+$/
const MOST_ATTEMPTS_AT_ONCE = 1_000
const MOST_SERIES = 200_000
const WATCHDOG_INTERVAL = Duration.minutes(1)
/** The version in `tocsin_build_info`: the program knows which one it installed. */
const VERSION = "embedded"

const tokens: Reader<ReadonlyArray<string>, ReadonlyArray<Redacted.Redacted>> = (name, given, complain) =>
  texts(TOKEN, "1 to 512 visible ASCII characters")(name, given, complain)?.map((token) =>
    Redacted.make(token),
  )

const storage: Reader<StorageChoice> = (name, given, complain) => {
  if (!isStorageChoice(given))
    return complain(`${name} must be memory(), sqlite(file), postgres(url) or keyValue(…)`)
  for (const problem of given.problems ?? []) complain(`${name}: ${problem}`)
  return given
}

const origins: Reader<ReadonlyArray<string>, HttpOptions["allowedOrigins"]> = (name, given, complain) => {
  if (given === undefined) return undefined
  const read = parseAllowedOrigins(Array.isArray(given) ? given.map(String) : [])
  return Result.isSuccess(read) ? read.success : complain(`${name} must be an array of ${read.failure}`)
}

const metrics: Reader<MonitorOptions["metrics"], HttpOptions["metrics"]> = (name, given, complain) => {
  if (given === undefined || given === false) return undefined
  if (given === true || given === "open")
    return { access: { tokens: [], isOpen: given === "open" }, version: VERSION }
  const { token } = group<{ readonly token: string }>()({ token: text })(name, Object(given), complain) ?? {}
  if (token !== undefined && TOKEN.test(token))
    return { access: { tokens: [Redacted.make(token)], isOpen: false }, version: VERSION }
  return complain(
    `${name} must be true, false, "open" or { token }, a token of 1 to 512 visible ASCII characters`,
  )
}

const publicUrl: Reader<string> = (name, given, complain) =>
  given === undefined ? given : (parsePublicUrl(String(given)) ?? complain(`${name} must be ${PUBLIC_URL}`))

const fromOne = required<number>(
  (given) => Number.isSafeInteger(given) && Number(given) >= 1,
  "an integer from 1",
)
const RATE = "{ perMinute, burst } with integers from 1, or false for no limit"
const rateOf = group<RateOption>()({ perMinute: fromOne, burst: fromOne }, RATE)
const rate: Reader<RateOption | false, RateOption> = (name, given, complain) => {
  if (given === false) return { perMinute: 0, burst: 0 }
  const read = rateOf(name, given, complain)
  return read?.perMinute === undefined || read.burst === undefined
    ? undefined
    : { perMinute: read.perMinute, burst: read.burst }
}

/** `false` keeps rows for ever. */
const kept: Reader<DurationOption | false, Duration.Duration | "forever"> = (name, given, complain) =>
  given === false ? "forever" : duration(name, given, complain)

const optionsOf = group<MonitorOptions>()({
  storage,
  notifiers: asGiven<ReadonlyArray<NotifierOption>>(),
  policy: asGiven<PolicyOption | "stored">(),
  secretsDir: text,
  secretsKey: checked<string>(
    (given) => typeof given === "string" && SECRETS_KEYS.test(given),
    "64 hex digits, or two such keys separated by a comma",
  ),
  push,
  operatorTokens: tokens,
  readTokens: tokens,
  basePath: checked<string>(
    (given) => given === "" || (typeof given === "string" && BASE_PATH.test(given)),
    'a path such as "/monitoring", without a slash at its end',
  ),
  trustedProxies: integer(0),
  allowedOrigins: origins,
  metrics,
  console: consoleOf,
  staleAfter: duration,
  deadAfter: duration,
  acknowledgedFor: duration,
  longestAcknowledgement: duration,
  longestSilence: duration,
  heartbeatRate: rate,
  registrationRate: rate,
  integrationRate: rate,
  integrationCheckRate: rate,
  maxPendingAgents: integer(0),
  acceptFingerprints: texts(/^[0-9a-f]{16}$/, "16 lower-case hex digits"),
  retention: group<RetentionOption>()({
    history: kept,
    incidents: kept,
    outbox: kept,
    pending: kept,
    audit: kept,
    numbers: kept,
  }),
  numbersSeries: integer(0, MOST_SERIES),
  delivery: flag,
  housekeeping: flag,
  // The address is judged by `denyPrivateTargets`, below.
  watchdog: group<WatchdogOption>()({ url: asGiven<string>(), interval: duration }),
  deliveryLease: duration,
  deliveryConcurrency: integer(1, MOST_ATTEMPTS_AT_ONCE),
  storageTimeout: duration,
  keyPepper: text,
  linkKey: checked<string>((given) => typeof given === "string" && LINK_KEY.test(given), "64 hex digits"),
  publicUrl,
  messageDetails: flag,
  denyPrivateTargets: flag,
  log: checked<Log | false>(
    (given) => given === false || typeof given === "function",
    "a function, or false for no log",
  ),
})

type Given = NonNullable<ReturnType<typeof optionsOf>>

/** Reads options. Throws a {@link TocsinError} with code `options` that lists all problems. */
export const readOptions = (options: MonitorOptions) => {
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  const read: Partial<Given> = optionsOf("", Object(options), complain) ?? {}
  const denyPrivateTargets = read.denyPrivateTargets ?? false
  const lease = read.deliveryLease ?? defaultDelivery.lease
  const rules = rulesOf(read)
  problems.push(...ruleProblems({ ...defaultRules, ...rules }))
  const { policy: given = {} } = read satisfies Pick<MonitorOptions, "policy">
  const isStored = given === "stored"
  if (!isStored && read.secretsDir !== undefined) complain('secretsDir counts only with policy: "stored"')
  if (!isStored && read.secretsKey !== undefined && read.push === undefined)
    complain('secretsKey counts only with policy: "stored" or push')
  const document = isStored ? {} : given
  const { notifiers = document?.receivers === undefined ? [debug()] : [] } = read satisfies Pick<
    MonitorOptions,
    "notifiers"
  >
  const problemsOfNotifiers = notifierProblems(notifiers, { denyPrivateTargets })
  problems.push(...problemsOfNotifiers)
  const names = problemsOfNotifiers.length === 0 ? notifiers.map(({ name }) => name) : []
  const policy = readGivenPolicy(document, names, secretProblems)
  if (problemsOfNotifiers.length === 0 && Result.isFailure(policy)) problems.push(...policy.failure)
  const watchdog = watchdogOf(read.watchdog, denyPrivateTargets, complain)
  if (read.storage === undefined || problems.length > 0 || Result.isFailure(policy))
    throw new TocsinError("options", problems.join("\n"))
  const stored: StoredSettings = {}
  const publicAddress = () => publicUrlOf({ publicUrl: read.publicUrl, stored })
  const posting = {
    denyPrivateTargets,
    timeout: sendTimeout(lease),
    mailTimeout: mailTimeout(lease),
    publicHost: () => namedHost(publicAddress()),
  }
  const { secretsDir, secretsKey } = read
  // Debug stands in for notifiers, and policies replace it.
  const outside = { notifiers: names, keepsNotifiers: !isStored || read.notifiers !== undefined }
  const tocsin: TocsinOptions<StorageError, TocsinError<"options">, StorageError> = {
    ...layersOf(read.storage),
    notifiers: withReceivers(notifiersLayer(notifiers, posting), policy.success, posting),
    rules: { ...rules, ...outside, policy: policy.success, stored },
    retention: retentionOf(read.retention),
    mostSeries: read.numbersSeries,
    delivery: { lease, concurrency: read.deliveryConcurrency ?? defaultDelivery.concurrency },
    storageTimeout: read.storageTimeout,
    linkKey: read.linkKey === undefined ? undefined : Redacted.make(read.linkKey),
    secretCipher: secretsKey === undefined ? undefined : secretCipher(Redacted.make(secretsKey)),
    push: read.push && pushOf(read.push, denyPrivateTargets, publicAddress),
    pepper: read.keyPepper === undefined ? undefined : Redacted.make(read.keyPepper),
  }
  return {
    surroundings: { notifiers: names, posting },
    stored: isStored ? { notifiers, outside, posting, folder: secretsDir } : undefined,
    tocsin,
    http: {
      operatorTokens: read.operatorTokens ?? [],
      readTokens: read.readTokens ?? [],
      trustedHops: read.trustedProxies ?? 0,
      allowedOrigins: read.allowedOrigins,
      metrics: read.metrics,
      pages: read.console && {
        console: read.console,
        about: { version: VERSION, storage: read.storage.name },
      },
      basePath: read.basePath ?? "",
    },
    delivers: read.delivery ?? true,
    keepsHouse: read.housekeeping ?? true,
    watchdog,
  }
}

/** The options that are rules of the same name. */
const RULES = [
  "staleAfter",
  "deadAfter",
  "acknowledgedFor",
  "longestAcknowledgement",
  "longestSilence",
  "heartbeatRate",
  "registrationRate",
  "integrationRate",
  "integrationCheckRate",
  "publicUrl",
  "messageDetails",
  "maxPendingAgents",
] as const satisfies ReadonlyArray<keyof RuleOptions>

const rulesOf = (read: Partial<Given>): Partial<RuleOptions> => ({
  ...Object.fromEntries(RULES.map((name) => [name, read[name]]).filter(([, value]) => value !== undefined)),
  ...(read.acceptFingerprints && {
    acceptFingerprints: new Set(read.acceptFingerprints.map((print) => KeyFingerprint.make(print))),
  }),
})

/** An absent retention has its default; one that is undefined keeps rows for ever. */
const retentionOf = (read: Given["retention"]): Partial<RetentionOptions> =>
  Object.fromEntries(
    Object.entries({ ...read })
      .filter(([, time]) => time !== undefined)
      .map(([name, time]) => [name, time === "forever" ? undefined : time]),
  )

/** The watchdog pings. No problem shows the address, which is a credential. */
const watchdogOf = (
  watchdog: Given["watchdog"],
  denyPrivateTargets: boolean,
  complain: Complain,
): WatchdogOptions | undefined => {
  if (watchdog === undefined) return undefined
  const target = parseTarget(Redacted.make(String(watchdog.url)), { denyPrivateTargets })
  if (Result.isFailure(target)) return complain(`watchdog.url ${target.failure}`)
  const receiver = HttpWatchdogReceiver.layer({ target: target.success, denyPrivateTargets })
  return { interval: watchdog.interval ?? WATCHDOG_INTERVAL, receiver }
}
