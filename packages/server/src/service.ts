import { existsSync } from "node:fs"
import process from "node:process"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { makeDownloadFiles } from "@tocsin/adapter-http/features/enrolment/DownloadFiles"
import * as HttpServer from "@tocsin/adapter-http/HttpServer"
import type { ConsoleFiles } from "@tocsin/adapter-http/pages/PageRoutes"
import { layer as subscriptions } from "@tocsin/adapter-notify/integrations/subscriptions"
import { AgentDownload } from "@tocsin/core/kernel/ports/AgentDownload"
import { SignInIssuer } from "@tocsin/core/features/signIn/SignInIssuer"
import { Notifiers, WatchdogReceiver } from "@tocsin/core/heart/notifications/Notifiers"
import { verifyWatchAgent } from "@tocsin/core/features/watches/Watches"
import { Context, Effect, Layer } from "effect"
import * as Http from "effect/http/HttpServer"
import { Tocsin } from "tocsin/effect"
import { version } from "./version.ts"
import { watchProbes } from "./features/watches/watchProbes.ts"
import { warnOfLinks } from "./features/links/links.ts"
import { pushServiceOf } from "./features/push/pushServiceOf.ts"
import { watchdogReceiver } from "./notifiers.ts"
import { hasServed, linkKey, operatorTokens, secretCipherOf } from "./keptSecret.ts"
import { loadPolicy } from "./policy/loadPolicy.ts"
import { policyReader } from "./policy/policyReading.ts"
import { policyReloading } from "./policy/policyReloading.ts"
import { policySource } from "./policy/policySource.ts"
import { rulesOf, retentionOf } from "./rules.ts"
import { Secrets } from "./Secrets.ts"
import type { Settings } from "./settings/Settings.ts"
import { presentZones } from "./zones/hostZones.ts"
import {
  clockLayer,
  connectionWarning,
  databaseFile,
  ensureDataDirectory,
  type OnStorageLost,
  storageKind,
  storageLayer,
  storageName,
  storageOfModule,
} from "./storage.ts"
import { historyTrial } from "./features/trial/historyThread.ts"

/** The whole service with these settings, running for as long as the layer lives. */
export const service = (given: Settings, onStorageLost: OnStorageLost) => {
  const settings = { ...given, stored: {} }
  return Layer.unwrap(
    Effect.gen(function* () {
      if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
      yield* warnOfOtherData(settings)
      const secrets = new Secrets(settings)
      const tokens = yield* operatorTokens(settings, process.stderr.isTTY === true)
      const loaded = yield* Effect.provide(loadPolicy(settings), RandomIds.layer)
      const source = yield* Effect.provide(policySource(settings, secrets), RandomIds.layer)
      const services = Tocsin.services({
        policySource: source,
        storage: storageLayer(settings, onStorageLost),
        version,
        storageTimeout: settings.SERVICE_STORAGE_TIMEOUT,
        clock: clockLayer(settings),
        notifiers: Layer.succeed(Notifiers, loaded.receivers),
        pepper: settings.SERVICE_KEY_PEPPER,
        linkKey: yield* linkKey(settings),
        push: pushServiceOf(settings),
        secretCipher: yield* cipherOrNone(settings),
        rules: rulesOf(settings, loaded.document),
        retention: retentionOf(settings),
        mostSeries: settings.SERVICE_NUMBERS_SERIES,
        delivery: {
          lease: settings.SERVICE_DELIVERY_LEASE,
          concurrency: settings.SERVICE_DELIVERY_CONCURRENCY,
        },
      })
      const handout = yield* downloadFiles(settings)
      const server = HttpServer.layerWithPages(
        {
          host: settings.SERVICE_HOST,
          port: settings.SERVICE_PORT,
          operatorTokens: secrets.list(({ SERVICE_AUTH_TOKEN }) => SERVICE_AUTH_TOKEN ?? tokens),
          readTokens: secrets.list(({ SERVICE_READ_TOKEN = [] }) => SERVICE_READ_TOKEN),
          trustedHops: settings.SERVICE_TRUST_PROXY,
          allowedOrigins: settings.SERVICE_ALLOWED_ORIGINS,
          handout,
          ...metricsOf(settings, secrets),
        },
        { version, storage: storageKind(settings), timeZones: presentZones() },
        yield* consoleFiles(settings),
      )
      // The layers that follow a reload are there before an earlier SIGHUP is followed.
      return Layer.mergeAll(listeningNote(settings), secrets.reloading).pipe(
        // Merged, they also stop together, so that deliveries and requests have the same seconds to
        // finish.
        Layer.provide(
          Layer.mergeAll(
            server,
            Tocsin.background,
            watchdogLayer(secrets, settings),
            besides(settings),
            policyReloading(secrets),
          ).pipe(Layer.provide(Layer.effectDiscard(verifyWatchAgent))),
        ),
        Layer.provide(
          Layer.provideMerge(
            services,
            Layer.mergeAll(
              portsOf(settings, secrets),
              Layer.succeed(
                AgentDownload,
                handout && { ...handout, files: Array.from(handout.files.keys()) },
              ),
            ),
          ),
        ),
      )
    }),
  )
}

const cipherOrNone = (settings: Settings) =>
  Effect.catch(secretCipherOf(settings), ({ message }) =>
    Effect.as(Effect.logError(`receivers with stored secrets are unavailable: ${message}`), undefined),
  )

/** A start without the module or the setting that has the data is one on an empty or a former database. */
const warnOfOtherData = (settings: Settings): Effect.Effect<void> => {
  if (settings.DATABASE_URL?.kind === "memory") return Effect.void
  const file = databaseFile(settings)
  const isThere = existsSync(file)
  if (settings.DATABASE_URL !== undefined || storageOfModule(settings) !== undefined) {
    if (!isThere) return Effect.void
    return Effect.logWarning(
      `the data is in ${storageKind(settings)}, and not in ${file}: move that file away, as a start without this storage's setting would use it`,
    )
  }
  // A module may name another file, which is new.
  if (isThere || settings.extensions?.storage !== undefined || !hasServed(settings.SERVICE_DATA_DIR))
    return Effect.void
  return Effect.logWarning(
    `the server has run in ${settings.SERVICE_DATA_DIR}, but ${file} does not exist, so it starts without data: stop it and set SERVICE_EXTENSIONS if a module has the data`,
  )
}

/** Ports of the service besides its storage and receivers. */
const portsOf = (settings: Settings, secrets: Secrets) =>
  Layer.mergeAll(
    watchProbes(settings),
    subscriptions({ denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS }),
    historyTrial(settings),
    policyReader(settings),
    signIn(settings, secrets),
    mailReading(settings),
  )

const loadMails = Effect.promise(() => import("./features/integrations/mails.ts"))

/** The reader of mails, on a server that takes some: others load nothing of it. */
const mailReading = ({ SERVICE_MAIL_PORT: port }: Settings) =>
  port === undefined ? Layer.empty : Layer.unwrap(Effect.map(loadMails, ({ reading }) => reading))

/** Warnings, and the listener for mails where one is set. */
const besides = (settings: Settings) => {
  const { SERVICE_MAIL_PORT: port } = settings
  return Layer.mergeAll(
    connectionWarning(settings),
    Layer.effectDiscard(warnOfLinks(settings)),
    port === undefined
      ? Layer.empty
      : Layer.unwrap(Effect.map(loadMails, ({ listening }) => listening(settings, port))),
  )
}

/** The issuer by which people sign in. Servers without one start faster without its library. */
const signIn = (settings: Settings, secrets: Secrets) =>
  settings.SERVICE_OIDC_ISSUER === undefined
    ? Layer.empty
    : Layer.effect(
        SignInIssuer,
        Effect.flatMap(
          Effect.promise(() => import("./features/signIn/signInIssuer.ts")),
          ({ signInIssuer }) => signInIssuer(settings, secrets),
        ),
      )

/** Access to /metrics besides the tokens of operators. It follows the settings. */
const metricsAccess = (settings: Settings, secrets: Secrets) => {
  const opens = ({ SERVICE_METRICS_TOKEN: access }: Settings): boolean => access === "open"
  const access = {
    tokens: secrets.list(({ SERVICE_METRICS_TOKEN: token }) =>
      token === undefined || token === "open" ? [] : [token],
    ),
    isOpen: opens(settings),
  }
  secrets.follow((read) =>
    Effect.sync(() => {
      access.isOpen = opens(read)
    }),
  )
  return access
}

const metricsOf = (settings: Settings, secrets: Secrets) => {
  const { SERVICE_CHECK_METRICS, SERVICE_CHECK_METRICS_LABELS: labels = [] } = settings
  return {
    metrics: { access: metricsAccess(settings, secrets), version },
    checkMetrics: SERVICE_CHECK_METRICS ? { labels } : undefined,
  }
}

const listeningNote = (settings: Settings) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { address } = yield* Http.HttpServer
      const listensOn = Http.formatAddress(address)
      yield* Effect.logInfo(`Tocsin listens on ${listensOn}`).pipe(
        Effect.annotateLogs({ storage: storageName(settings) }),
      )
      yield* Effect.addFinalizer(() => Effect.logInfo("Tocsin stops: requests under way are finished first"))
    }),
  )

/** Files that a server does without if they cannot be loaded. */
const orNone = <A, R>(files: Effect.Effect<A, unknown, R>, warn: (cause: unknown) => Effect.Effect<void>) =>
  Effect.catch(files, (cause) => Effect.as(warn(cause), undefined))

const consoleFiles = ({ SERVICE_CONSOLE }: Settings): Effect.Effect<ConsoleFiles | undefined> => {
  if (SERVICE_CONSOLE === "off") return Effect.succeed(undefined)
  // On demand: without the bundle of the server, this bundles the console.
  const files = Effect.tryPromise(async () => (await import("@tocsin/console/files")).files())
  return orNone(files, (cause) =>
    Effect.logWarning("the console could not be loaded; browsers get a page without it", cause),
  )
}

const downloadFiles = ({ SERVICE_AGENT_DIR, SERVICE_AGENT_DOWNLOADS }: Settings) => {
  if (!SERVICE_AGENT_DOWNLOADS) return Effect.succeed(undefined)
  const files = Effect.tryPromise(async () => (await import("@tocsin/agent/files")).files())
  const handout = Effect.flatMap(files, (loaded) => makeDownloadFiles(loaded, SERVICE_AGENT_DIR))
  return orNone(handout, (cause) =>
    Effect.logWarning(
      "the agent's files could not be loaded, so the server hands out none: install this version again",
      cause,
    ),
  )
}

/**
 * Sends watchdog pings if an address is set; the address follows the settings. Former receivers live as long
 * as the server, because they may be in use.
 */
const watchdogLayer = (secrets: Secrets, settings: Settings) => {
  const initial = watchdogReceiver(settings)
  if (initial === undefined) return Layer.empty
  const receiver = Layer.effect(
    WatchdogReceiver,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const build = (layer: Layer.Layer<WatchdogReceiver>) =>
        Effect.map(Layer.buildWithScope(Layer.fresh(layer), scope), Context.get(WatchdogReceiver))
      let latest = yield* build(initial)
      secrets.follow((read) =>
        Effect.map(build(watchdogReceiver(read) ?? initial), (built) => void (latest = built)),
      )
      return WatchdogReceiver.of({ send: (watchdog) => latest.send(watchdog) })
    }),
  )
  return Tocsin.watchdog({ interval: settings.SERVICE_WATCHDOG_INTERVAL, receiver })
}
