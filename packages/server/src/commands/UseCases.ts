import { userInfo } from "node:os"
import process from "node:process"
import * as HmacLinkSigner from "@tocsin/adapter-crypto/HmacLinkSigner"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { storageStack } from "@tocsin/core/kernel/engine/commits/storageStack"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { PushService } from "@tocsin/core/features/push/PushService"
import { SharedSettings } from "@tocsin/core/features/settings/SharedSettings"
import { FollowedPolicy } from "@tocsin/core/lists/FollowedPolicy"
import { shownPolicies } from "@tocsin/core/heart/usecases/shownPolicy"
import { EMBEDDED, ReplicaIdentity } from "@tocsin/core/heart/usecases/Replicas"
import { Effect, Layer, Result } from "effect"
import { presentLinkKey, presentSecretCipher } from "../keptSecret.ts"
import { clockLayer, noData, requireStorage, storageLayer, storageName, storageOfModule } from "../storage.ts"
import { loggingLayer } from "../logging.ts"
import { Output } from "../output/Output.ts"
import { type LoadedPolicy, loadPolicy } from "../policy/loadPolicy.ts"
import { policySource } from "../policy/policySource.ts"
import { rulesOf } from "../rules.ts"
import { commandSettings } from "../settings/checkedSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { pushServiceOf } from "../features/push/pushServiceOf.ts"
import { type ActingOperator, CurrentOperator } from "@tocsin/core/kernel/ports/CurrentOperator"

/** The user who runs this process. A container may run as a number that has no name. */
const userName = (): string =>
  Result.getOrElse(
    Result.try(() => userInfo().username),
    () => String(process.getuid?.() ?? "unknown"),
  )

/** The operator of a command: anyone who can open the storage may do anything. */
const commandOperator = Layer.sync(CurrentOperator, (): ActingOperator => ({
  name: `cli:${userName()}`,
  role: "admin",
  expires_at: undefined,
  via: "cli",
  request_id: undefined,
}))

export const settingsOfCommand = Effect.suspend(() => Effect.fromResult(commandSettings(process.env)))

/** The log of a command, on standard error, without the lines that a server logs at `info`. */
export const commandLogging = (settings: Settings) => {
  const { SERVICE_LOG_LEVEL: level } = settings
  return loggingLayer(
    { ...settings, SERVICE_LOG_LEVEL: level === "info" ? "warn" : level },
    process.stderr.isTTY === true,
  )
}

export const storageOfCommand = (settings: Settings) =>
  Layer.provide(storageStack(settings.SERVICE_STORAGE_TIMEOUT), storageLayer(settings))

/** Commands show the addresses of calendars, and send no links. */
const linksOf = (settings: Settings) => {
  const key = presentLinkKey(settings)
  return key === undefined ? Layer.empty : HmacLinkSigner.layer(key)
}

const portsOf = (settings: Settings, loaded: LoadedPolicy, source: PolicySource) =>
  Layer.mergeAll(
    storageOfCommand(settings),
    Receivers.layer.pipe(Layer.provide(Layer.succeed(Notifiers, loaded.receivers))),
    NodeHashing.layer({ pepper: settings.SERVICE_KEY_PEPPER }),
  ).pipe(
    Layer.provideMerge(linksOf(settings)),
    // A key that this process made might not be readable for the server.
    Layer.provideMerge(Layer.sync(SecretCipher, () => presentSecretCipher(settings))),
    Layer.provideMerge(Layer.succeed(PushService, pushServiceOf(settings))),
    Layer.provideMerge(RandomIds.layer),
    Layer.provideMerge(PolicyInForce.layer),
    Layer.provideMerge(Layer.succeed(RuleSettings, rulesOf(settings, loaded.document))),
    Layer.provideMerge(Layer.succeed(PolicySource, source)),
    Layer.provideMerge(clockLayer(settings)),
    Layer.provideMerge(commandLogging(settings)),
  )

const OTHER_POLICY =
  "the running servers follow another policy than this command, by which it shows holds and who is next: set SERVICE_POLICY_FILE as they have it\n"
const OF_PROGRAM =
  "a running program decides on the policy that it follows, and this command shows holds and who is next without it: ask the program's API, or have it follow the stored policy\n"

/** A module's storage is opened to see whether it has data. */
const requireOwnData = (settings: Settings) =>
  storageOfModule(settings) === undefined
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.flatMap(
          Storage.use(({ serviceHeartbeat }) => serviceHeartbeat),
          (heartbeat) => (heartbeat === undefined ? Effect.fail(noData(storageName(settings))) : Effect.void),
        ),
      )

const notingOtherPolicy = Layer.effectDiscard(
  Effect.gen(function* () {
    const { hash, replicas } = yield* (yield* shownPolicies).current
    const others = replicas.filter((replica) => replica.hash !== hash)
    if (others.length === 0) return
    const areServers = others.some(({ version }) => version !== EMBEDDED)
    yield* (yield* Output).note(areServers ? OTHER_POLICY : OF_PROGRAM)
  }),
)

/**
 * The services that use cases need on the storage of the environment's settings, beside a running server or without one. Commands
 * build it once their arguments are valid, so that help and mistakes need no storage. Each adds the services that it
 * uses.
 */
export const portsOfCommand = Layer.unwrap(
  Effect.gen(function* () {
    const settings = { ...(yield* settingsOfCommand), stored: {} }
    yield* requireStorage(settings)
    const loaded = yield* Effect.provide(loadPolicy(settings), RandomIds.layer)
    const source = yield* Effect.provide(policySource(settings), RandomIds.layer)
    return notingOtherPolicy.pipe(
      Layer.provideMerge(
        Layer.merge(SharedSettings.layer, Layer.provideMerge(FollowedPolicy.layer, ReplicaIdentity.layer)),
      ),
      Layer.merge(requireOwnData(settings)),
      Layer.provideMerge(portsOf(settings, loaded, source)),
      Layer.merge(commandOperator),
    )
  }),
)
