import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option, Scope } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { scratchFolder } from "../processes/scratch.ts"
import type { Environment } from "../processes/secrecy.ts"
import { seeded } from "../processes/seeded.ts"
import { launch, type LaunchedProcess } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { startReceiver, type Reaction } from "../processes/WebhookReceiver.ts"
import type { Launch, Place, Prepared, Setup, Site, Stage } from "./Fault.ts"
import type { FaultyPostgres } from "./FaultyPostgres.ts"
import { startLoad } from "./Load.ts"
import { startMailReceiver } from "./mailReceiver.ts"

const SERVERS: Record<Setup, number> = { sqlite: 1, postgres: 1, "three on postgres": 3 }

/** A notification that a killed server was sending is free after this time instead of a minute. */
const DELIVERY_LEASE = "5s"

/** Everything goes to a webhook and to a mail server. */
const POLICY = `receivers:
  hooks: { kind: webhook, url_env: SERVICE_WEBHOOK_URL, secret_env: SERVICE_WEBHOOK_SECRET }
  mails: { kind: messenger, type: email, url_env: MAIL_URL, from: tocsin@example.org, to: [ops@example.org], tls: off, digest: off }
routes: [{ to: [hooks, mails] }]
`

const listens = (port: number): Effect.Effect<boolean> =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/api/v1/health`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )

const openPlace = Effect.fnUntraced(function* (
  prepared: Prepared,
  site: Site,
  environment: Environment,
): Effect.fn.Return<Place, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const { folder, index, port } = site
  const conditions = prepared.conditions === undefined ? {} : yield* prepared.conditions(site)
  const settings = { ...environment, ...conditions.environment, SERVICE_PORT: String(port) }
  let present: LaunchedProcess | undefined
  const launchHere = ({ args, environment: changes }: Launch = {}) =>
    Scope.provide(
      launch({
        cwd: folder,
        environment: { ...settings, ...changes },
        ...(args === undefined ? { through: conditions.through ?? [] } : { args }),
      }),
      scope,
    )
  return {
    ...site,
    baseUrl: `http://127.0.0.1:${port}`,
    process: () => {
      if (present === undefined) throw new Error("no process was started")
      return present
    },
    launch: launchHere,
    start: Effect.gen(function* () {
      const launched = yield* launchHere()
      present = launched
      const { ended, output } = launched
      yield* Effect.raceFirst(
        until(`server ${index} listens`, listens(port)),
        Effect.flatMap(ended, ({ code, signal }) =>
          Effect.die(new Error(`server ${index} ended by ${signal ?? code}: ${output.stderr.slice(-2_000)}`)),
        ),
      )
    }),
  }
})

/** Starts servers, a receiver and agents that report, until the scope closes. */
export const openStage = Effect.fnUntraced(function* (
  prepared: Prepared,
  setup: Setup,
  { postgres, seed }: { readonly postgres: FaultyPostgres | undefined; readonly seed: number },
): Effect.fn.Return<Stage, never, Scope.Scope> {
  const random = seeded(seed)
  // Slow, so that a fault meets notifications that are being sent.
  const control = { reactionTo: (): Reaction => ({ status: 200, afterMillis: 100 * random() }) }
  const hooks = yield* startReceiver(() => control.reactionTo())
  const mails = yield* startMailReceiver(() => control.reactionTo())
  const receiver = Object.assign(control, {
    arrivals: hooks.arrivals,
    mails: mails.arrivals,
    close: Effect.andThen(hooks.close, mails.close),
    open: Effect.andThen(hooks.open, mails.open),
  })
  const root = yield* scratchFolder
  writeFileSync(join(root, "policy.yaml"), POLICY)
  const databaseUrl = postgres === undefined ? undefined : yield* postgres.database
  const { SERVICE_WEBHOOK_URL: receiverUrl = "", ...secrets } = hooks.settings("hooks")
  const environment = {
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_LOG_LEVEL: "info",
    SERVICE_POLICY_FILE: join(root, "policy.yaml"),
    SERVICE_DELIVERY_LEASE: DELIVERY_LEASE,
    SERVICE_WEBHOOK_URL: receiverUrl,
    MAIL_URL: mails.url,
    ...secrets,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
  const [first, ...others] = yield* Effect.forEach(
    Array.from({ length: SERVERS[setup] }, (_, index) => index),
    Effect.fnUntraced(function* (index) {
      const folder = join(root, `server-${index}`)
      mkdirSync(folder)
      const site = { index, folder, port: yield* Effect.promise(freePort), databaseUrl, receiverUrl }
      return yield* openPlace(prepared, site, environment)
    }),
  )
  if (first === undefined) return yield* Effect.die("there is no server")
  const places = [first, ...others] as const
  yield* Effect.forEach(places, ({ start }) => start, { discard: true })
  let turn = 0
  let overAt: number | undefined
  return {
    setup,
    places,
    anyPlace: Effect.sync(() => places[turn++ % places.length] ?? first),
    postgres,
    receiver,
    load: yield* startLoad(places),
    random,
    anyMoment: (limitMillis) => Effect.suspend(() => Effect.sleep(limitMillis * random())),
    isOver: Effect.sync(() => (overAt = performance.now())),
    overSince: () => overAt,
    revive: Effect.forEach(
      places,
      (place) =>
        Effect.flatMap(Effect.timeoutOption(place.process().ended, "1 second"), (end) =>
          Option.isSome(end) ? place.start : Effect.void,
        ),
      { discard: true },
    ),
  }
})
