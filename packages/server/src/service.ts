import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as HttpServer from "@tocsin/adapter-http/HttpServer"
import { Readiness } from "@tocsin/adapter-http/Readiness"
import { boundedStorage } from "@tocsin/core/ports/boundedStorage"
import { Policy } from "@tocsin/core/ports/Policy"
import { Admission } from "@tocsin/core/usecases/Admission"
import * as Delivery from "@tocsin/core/usecases/Delivery"
import * as Housekeeping from "@tocsin/core/usecases/Housekeeping"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Operations } from "@tocsin/core/usecases/Operations"
import { OutboxSignal } from "@tocsin/core/usecases/OutboxSignal"
import { Queries } from "@tocsin/core/usecases/Queries"
import { verifyPepper } from "@tocsin/core/usecases/verifyPepper"
import { Effect, Layer } from "effect"
import * as Http from "effect/http/HttpServer"
import { ensureDataDirectory } from "./dataDirectory.ts"
import { notifiersLayer } from "./notifiers.ts"
import { policyOf, retentionOf } from "./policy.ts"
import type { Settings } from "./settings/Settings.ts"
import { clockLayer, storageLayer, storageName } from "./storage.ts"
import { uiTokens } from "./uiTokens.ts"

/** The whole service with these settings, running for as long as the layer lives. */
export const service = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
      const tokens = yield* uiTokens(settings)
      const storage = OutboxSignal.layer.pipe(
        Layer.provideMerge(Readiness.layer),
        Layer.provide(boundedStorage(settings.SERVICE_STORAGE_TIMEOUT)),
        Layer.provide(storageLayer(settings)),
      )
      const ports = Layer.mergeAll(
        storage,
        notifiersLayer(settings),
        NodeHashing.layer({ pepper: settings.SERVICE_KEY_PEPPER }),
      ).pipe(
        Layer.provideMerge(RandomIds.layer),
        Layer.provideMerge(configuration(settings)),
        Layer.provideMerge(clockLayer(settings)),
      )
      const usecases = Layer.mergeAll(Ingest.layer, Admission.layer, Queries.layer, Operations.layer)
      const server = HttpServer.layerWithOperations({
        host: settings.SERVICE_HOST,
        port: settings.SERVICE_PORT,
        uiTokens: tokens,
        readTokens: settings.SERVICE_READ_TOKEN,
        trustedHops: settings.SERVICE_TRUST_PROXY,
      })
      return announcement(settings).pipe(
        // Merged, they also stop side by side: what is being sent has the same seconds to finish as what is being answered.
        Layer.provide(Layer.mergeAll(Layer.provide(server, usecases), Delivery.layer, Housekeeping.layer)),
        Layer.provide(Layer.effectDiscard(verifyPepper)),
        Layer.provide(ports),
      )
    }),
  )

/** What the rules and the background work can be set to. */
const configuration = (settings: Settings) =>
  Layer.mergeAll(
    Layer.succeed(Policy, policyOf(settings)),
    Layer.succeed(Housekeeping.Retention, retentionOf(settings)),
    Layer.succeed(Delivery.DeliverySettings, { lease: settings.SERVICE_DELIVERY_LEASE }),
  )

/** Says where the service listens and where it keeps its state, once it takes requests. */
const announcement = (settings: Settings) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { address } = yield* Http.HttpServer
      yield* Effect.logInfo(`Tocsin listens on ${Http.formatAddress(address)}`).pipe(
        Effect.annotateLogs({ storage: storageName(settings) }),
      )
      yield* Effect.addFinalizer(() => Effect.logInfo("Tocsin stops: requests under way are finished first"))
    }),
  )
