import { Agent, type OutgoingHttpHeaders } from "node:http"
import { assert } from "@effect/vitest"
import { secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import * as HmacLinkSigner from "@tocsin/adapter-crypto/HmacLinkSigner"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as HttpServer from "@tocsin/adapter-http/HttpServer"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { FailureLogInterval } from "@tocsin/adapter-http/response/FailureLog"
import { IntakeLimits } from "@tocsin/adapter-http/request/Intake"
import { storageStack } from "@tocsin/core/kernel/engine/commits/storageStack"
import { SignInIssuer } from "@tocsin/core/features/signIn/SignInIssuer"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { defaultRules, RuleSettings, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { services } from "@tocsin/core/lists/services"
import * as Delivery from "@tocsin/core/heart/usecases/Delivery"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { PushService } from "@tocsin/core/features/push/PushService"
import { ReplicaIdentity } from "@tocsin/core/heart/usecases/Replicas"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { HttpServer as BoundServer } from "effect/http"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { newToken, Observatory } from "./Observatory.ts"
import { SteeredClock } from "./SteeredClock.ts"

const START_MILLIS = 1_772_366_400_000
const UNLIMITED = { perMinute: 0, burst: 0 }

/** How a service differs from the default. */
export interface TocsinOptions {
  readonly rules?: Partial<RuleOptions>
  /** Adds faults to the storage. */
  readonly spoil?: (storage: Storage["Service"]) => Storage["Service"]
  readonly storageTimeout?: Duration.Input
  /** The seed of the IDs; they are random without one. */
  readonly seed?: string
  readonly intake?: IntakeLimits
  /** Where the policy comes from; the program decides without one. */
  readonly policySource?: PolicySource
  /** The operators' tokens; new ones without. */
  readonly tokens?: { readonly uiToken: string; readonly readToken: string }
  /** Sends agents' requests past the front to the API, and traces them. */
  readonly throughApi?: boolean | undefined
  /** Delivers to these; without notifiers, nothing is delivered. */
  readonly notifiers?: Notifiers["Service"]
  /** Signs links that acknowledge. */
  readonly linkKey?: string
  /** Signs people in. */
  readonly signInIssuer?: SignInIssuer | undefined
  /** Writes to browsers. */
  readonly push?: PushService
  /** Encrypts stored secrets. */
  readonly secretsKey?: string
  /** Serves metrics too. */
  readonly serves?: Pick<HttpServer.ServerOptions, "checkMetrics" | "metrics">
}

/** A service on a port of this machine, with what a test needs to use it. */
export class Tocsin extends Context.Service<
  Tocsin,
  {
    readonly port: number
    readonly uiToken: string
    /** Another operator token that is valid at the same time. */
    readonly otherUiToken: string
    /** A read-only token. */
    readonly readToken: string
    readonly clock: SteeredClock
    readonly observatory: Observatory
    /** The kept-alive connections of `call`. */
    readonly connections: Agent
    /** Fields that `call` adds to each request. */
    readonly headers: OutgoingHttpHeaders
  }
>()("@tocsin/test/http/Tocsin") {
  /**
   * The service on a storage. Nothing limits its rates unless its settings do. All tokens are new, so
   * each test can look for its own in all that the service let out.
   */
  static readonly layer = <E>(storage: Layer.Layer<Storage, E>, options: TocsinOptions = {}) =>
    Layer.effect(
      Tocsin,
      Effect.gen(function* () {
        const observatory = new Observatory({ traced: options.throughApi ?? false })
        // Last of all, after the service's last output.
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            assert.deepStrictEqual(observatory.leaks, [], "tokens were seen where they must not be")
          }),
        )
        const clock = new SteeredClock(yield* Clock.clockWith(Effect.succeed), START_MILLIS)
        const tokens = {
          uiToken: newToken(),
          readToken: newToken(),
          ...options.tokens,
          otherUiToken: newToken(),
        }
        const server = HttpServer.layerWithOperations({
          host: "127.0.0.1",
          port: 0,
          operatorTokens: [Redacted.make(tokens.uiToken), Redacted.make(tokens.otherUiToken)],
          readTokens: [Redacted.make(tokens.readToken)],
          ...options.serves,
        })
        const { spoil = (sound: Storage["Service"]) => sound, storageTimeout = "1 minute" } = options
        const watched = Layer.effect(
          Storage,
          Effect.map(Storage, (found) => spoil(observatory.watch(found))),
        )
        const guarded = Layer.merge(OutboxSignal.layer, Readiness.layer).pipe(
          Layer.provideMerge(storageStack(Duration.fromInputUnsafe(storageTimeout))),
          Layer.provide(watched),
          Layer.provide(storage),
        )
        const notifiers = Layer.succeed(Notifiers, options.notifiers ?? new Map())
        const service = server.pipe(
          Layer.provide(services),
          Layer.merge(
            options.notifiers === undefined
              ? Layer.empty
              : Layer.provide(Delivery.layer, ReplicaIdentity.layer),
          ),
          Layer.provide([
            guarded,
            NodeHashing.layer(),
            Receivers.layer.pipe(Layer.provide(notifiers)),
            PolicyInForce.layer,
          ]),
          Layer.provide(options.seed === undefined ? RandomIds.layer : SeededIds.layer(options.seed)),
          Layer.provide([
            options.linkKey === undefined
              ? Layer.empty
              : HmacLinkSigner.layer(Redacted.make(options.linkKey)),
            options.secretsKey === undefined
              ? Layer.empty
              : Layer.succeed(SecretCipher, secretCipher(Redacted.make(options.secretsKey))),
            options.push === undefined ? Layer.empty : Layer.succeed(PushService, options.push),
            Layer.succeed(SignInIssuer, options.signInIssuer),
            options.intake === undefined ? Layer.empty : Layer.succeed(IntakeLimits, options.intake),
            Layer.succeed(Clock.Clock, clock),
            // Each failure is logged, so that every line is searched for tokens.
            Layer.succeed(FailureLogInterval, Duration.zero),
            options.policySource === undefined
              ? Layer.empty
              : Layer.succeed(PolicySource, options.policySource),
            Layer.succeed(RuleSettings, {
              ...defaultRules,
              heartbeatRate: UNLIMITED,
              registrationRate: UNLIMITED,
              unknownKeyVolume: UNLIMITED,
              failedAuthenticationRate: UNLIMITED,
              ...options.rules,
            }),
            observatory.layer,
          ]),
        )
        const { address } = Context.get(yield* Layer.build(Layer.fresh(service)), BoundServer.HttpServer)
        const connections = yield* Effect.acquireRelease(
          Effect.sync(() => new Agent({ keepAlive: true })),
          (agent) => Effect.sync(() => agent.destroy()),
        )
        const port = "port" in address ? address.port : 0
        // The front takes no request with this field (`parseHead`), which changes nothing else.
        const headers: OutgoingHttpHeaders = options.throughApi === true ? { te: "trailers" } : {}
        return Tocsin.of({ port, ...tokens, clock, observatory, connections, headers })
      }),
    )
}
