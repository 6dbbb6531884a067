import { hash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { Watches } from "@tocsin/core/features/watches/Watches"
import { Admission } from "@tocsin/core/lists/Admission"
import { TopicFeed } from "@tocsin/core/heart/usecases/TopicFeed"
import { NotFound } from "@tocsin/core/kernel/engine/OperationErrors"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Push } from "@tocsin/core/features/push/Push"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { PolicyTrials } from "@tocsin/core/features/trial/PolicyTrials"
import { FollowedPolicy } from "@tocsin/core/lists/FollowedPolicy"
import { Policies } from "@tocsin/core/lists/Policies"
import { PolicyLines } from "@tocsin/core/lists/PolicyLines"
import { StoredSecrets } from "@tocsin/core/lists/StoredSecrets"
import { Queries } from "@tocsin/core/lists/Queries"
import { Numbers } from "@tocsin/core/lists/Numbers"
import { operationServices, queryServices } from "@tocsin/core/lists/services"
import { type Context, Effect, Layer, Logger, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import * as ApiServer from "../src/HttpServer.ts"
import { Readiness } from "@tocsin/core/heart/health/Readiness"

/** The operator token of every test server. */
export const UI_TOKEN = "operator-token"

/** The id that every test server gives to a request without one. */
export const REQUEST_ID = "01890a5d-ac96-774b-bcce-b302099a8057"

/** The log of one file's test servers, one JSON text a line. */
export const logs: Array<string> = []

const collecting = Layer.merge(
  Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))]),
  Layer.succeed(References.MinimumLogLevel, "Debug"),
)

/** The answers of a test server's use cases; calling a missing one is a defect. */
export interface Stubs {
  readonly ingest?: Partial<Ingest["Service"]>
  readonly admission?: Partial<Admission["Service"]>
  readonly queries?: Partial<Queries["Service"]>
  readonly readiness?: Partial<Readiness["Service"]>
  readonly integrations?: Partial<Integrations["Service"]>
  readonly operators?: Partial<Operators["Service"]>
  readonly feed?: Partial<TopicFeed["Service"]>
  readonly pages?: Partial<PublicPages["Service"]>
}

const visit = { leave: () => {}, forgive: () => {} }

/** Lets every body in. */
export const unlimitedBodies: Ingest["Service"]["bodies"] = {
  tryEnter: () => visit,
  enterHeartbeat: () => Effect.succeed(visit),
  enterEvents: () => Effect.succeed(visit),
  enterUnnamed: () => Effect.succeed(visit),
}

const unexpected = () => Effect.die("no request of these tests concerns enrolments")
const noNumbers = { reachedBounds: unexpected, ofCheck: unexpected, read: unexpected }
const noEnrolments = { list: unexpected, create: unexpected, remove: unexpected }
const noSecrets = {
  states: Effect.die("unexpected"),
  list: Effect.die("unexpected"),
  put: unexpected,
  remove: unexpected,
  watchStates: Effect.never,
  encryptAgain: Effect.void,
}

type Mocked = (typeof operationServices | typeof queryServices)[number]["layer"]
const mocked = Layer.mergeAll(
  Layer.empty,
  ...[...operationServices, ...queryServices].map((service) =>
    Layer.mock(service as unknown as Context.Service<never, object>, {}),
  ),
  // Together they are mocks of all these services.
) as Layer.Layer<Layer.Success<Mocked>>

/** The services that the API requires, as stubs. */
export const stubServices = ({
  ingest,
  admission,
  queries,
  readiness,
  integrations,
  operators,
  feed,
  pages,
}: Stubs) =>
  Layer.mergeAll(
    mocked,
    Layer.mock(Numbers, { numbers: noNumbers }),
    Layer.mock(Ingest, { bodies: unlimitedBodies, ...ingest, beat: ingest?.beat, batch: ingest?.batch }),
    Layer.mock(Admission, { enrolments: noEnrolments, ...admission }),
    Layer.mock(Integrations, {
      recognise: () => Effect.fail(new NotFound({ message: "not found" })),
      ...integrations,
    }),
    Layer.mock(Watches, {}),
    Layer.mock(Queries, { ...queries }),
    Layer.mock(Operators, { ...operators }),
    Layer.mock(Sessions, {}),
    Layer.mock(Push, {}),
    Layer.mock(Policies, {
      given: () => ({ notifiers: [], keepsNotifiers: false }),
      elsewhere: () => [],
      source: { source: "given", advice: "" },
      unavailable: () => [],
      plainSecrets: { issues: () => Effect.succeed([]), prevent: () => Effect.void },
      followedVersion: () => undefined,
    }),
    Layer.mock(FollowedPolicy, { followedVersion: () => undefined, bind: (notifier) => notifier }),
    Layer.mock(PolicyLines, {}),
    Layer.mock(PolicyTrials, {}),
    Layer.mock(StoredSecrets, noSecrets),
    PolicyInForce.layer,
    Layer.mock(TopicFeed, { ...feed }),
    Layer.succeed(
      PublicPages,
      PublicPages.of({
        publicUrl: () => undefined,
        has: () => false,
        find: () => Effect.succeed("unknown"),
        ...pages,
      }),
    ),
    Layer.mock(Commits, {}),
    Layer.succeed(
      Readiness,
      Readiness.of({
        isReady: Effect.succeed(true),
        isStorageUp: Effect.succeed(true),
        isDraining: () => false,
        drain: Effect.void,
        draining: Effect.never,
        ...readiness,
      }),
    ),
    Layer.succeed(Ids, Ids.of({ uuidV7: () => REQUEST_ID, secret: () => "-".repeat(43) })),
    Layer.succeed(
      Hashing,
      Hashing.of({
        identify: () => assert.fail("only use cases, which are stubs, identify keys"),
        sha256: (text) => hash("sha256", text),
        seal: (_, text) => text,
        open: (_, sealed) => sealed,
        pepperCheck: "none",
      }),
    ),
  )

/** A server of the API on a free port of this machine, its use cases being stubs. */
export const testServer = (stubs: Stubs = {}, options: Partial<ApiServer.ServerOptions> = {}) =>
  ApiServer.layer({
    host: "127.0.0.1",
    port: 0,
    operatorTokens: [Redacted.make("another"), Redacted.make(UI_TOKEN)],
    ...options,
  }).pipe(Layer.provide(stubServices(stubs)), Layer.provide(collecting))

/** The port of the server of this test. */
export const port = Effect.map(HttpServer.HttpServer, ({ address }) => ("port" in address ? address.port : 0))
