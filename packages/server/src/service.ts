import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as HttpServer from "@tocsin/adapter-http/HttpServer"
import { Readiness } from "@tocsin/adapter-http/Readiness"
import { boundedStorage } from "@tocsin/core/ports/boundedStorage"
import { Policy } from "@tocsin/core/ports/Policy"
import { Admission } from "@tocsin/core/usecases/Admission"
import * as Housekeeping from "@tocsin/core/usecases/Housekeeping"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Queries } from "@tocsin/core/usecases/Queries"
import { verifyPepper } from "@tocsin/core/usecases/verifyPepper"
import { Effect, Layer } from "effect"
import * as Http from "effect/http/HttpServer"
import { ensureDataDirectory } from "./dataDirectory.ts"
import { policyOf } from "./policy.ts"
import type { Settings } from "./settings/Settings.ts"
import { storageLayer, storageName } from "./storage.ts"
import { uiTokens } from "./uiTokens.ts"

/** The whole service with these settings, running for as long as the layer lives. */
export const service = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
      const tokens = yield* uiTokens(settings)
      const storage = Readiness.layer.pipe(
        Layer.provide(boundedStorage(settings.SERVICE_STORAGE_TIMEOUT)),
        Layer.provide(storageLayer(settings)),
      )
      const ports = Layer.mergeAll(
        storage,
        RandomIds.layer,
        NodeHashing.layer({ pepper: settings.SERVICE_KEY_PEPPER }),
      ).pipe(Layer.provideMerge(Layer.succeed(Policy, policyOf(settings))))
      const usecases = Layer.mergeAll(Ingest.layer, Admission.layer, Queries.layer)
      const server = HttpServer.layer({
        host: settings.SERVICE_HOST,
        port: settings.SERVICE_PORT,
        uiTokens: tokens,
      })
      return announcement(settings).pipe(
        Layer.provide(server),
        Layer.provide(Layer.mergeAll(usecases, Housekeeping.layer, Layer.effectDiscard(verifyPepper))),
        Layer.provide(ports),
      )
    }),
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
