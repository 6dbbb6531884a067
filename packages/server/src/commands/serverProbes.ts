import { readFileSync } from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { ValidationError } from "@tocsin/contract/Errors"
import { encodeProbe, type WatchProbe, type WatchTrial } from "@tocsin/contract/Watches"
import { WatchProbes } from "@tocsin/core/ports/WatchProbes"
import { Effect, Layer, Redacted, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { Output } from "../output/Output.ts"
import type { Settings } from "../settings/Settings.ts"
import { makeWatchProbes } from "../watchProbes.ts"
import { watchProblem } from "../watchTargets.ts"

/** Where a server with these settings answers this machine. */
export const addressOf = ({ SERVICE_HOST: host, SERVICE_PORT: port }: Settings): string => {
  const near = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${isIP(near) === 6 ? `[${near}]` : near}:${port}`
}

/** An operator's token: of the settings, or the one that the server keeps beside the embedded database. */
const tokenOf = ({ DATABASE_URL, SERVICE_AUTH_TOKEN, SERVICE_DATA_DIR }: Settings) => {
  if (SERVICE_AUTH_TOKEN !== undefined || DATABASE_URL !== undefined) return SERVICE_AUTH_TOKEN?.[0]
  const kept = Result.try(() => readFileSync(join(SERVICE_DATA_DIR, "ui-token"), "utf8").trim())
  return Result.isSuccess(kept) ? Redacted.make(kept.success) : undefined
}

/** Whether a Tocsin listens there: another program must not get the token. */
const isTocsin = (address: string): Effect.Effect<boolean> =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`${address}/openapi.json`, { signal })
    const { info } = Object(await response.json())
    return Object(info).title === "Tocsin"
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false),
  )

/** The running server's trial of a watch, or its refusal; nothing if no server answers. */
const askServer = Effect.fnUntraced(function* (
  settings: Settings,
  watch: WatchProbe,
): Effect.fn.Return<WatchTrial | undefined, ValidationError> {
  const baseUrl = addressOf(settings)
  const token = tokenOf(settings)
  if (token === undefined || !(yield* isTocsin(baseUrl))) return undefined
  const { TocsinClient } = yield* Effect.promise(() => import("tocsin/effect"))
  return yield* TocsinClient.make({ baseUrl, token, timeout: "75s" }).pipe(
    Effect.flatMap((client) => client.watches.try(encodeProbe(watch))),
    Effect.provide(FetchHttpClient.layer),
    Effect.catch(({ code, message }) =>
      code === "validation" ? Effect.fail(new ValidationError({ message })) : Effect.succeed(undefined),
    ),
  )
})

const problemOfStrictest = watchProblem({ denyPrivateTargets: true, denyLoopback: true })

/**
 * The probes of a command: the running server's, by the server's settings, if it answers. A target that
 * every server may reach is not tried before its watch is created.
 */
export const serverProbes = (settings: Settings) =>
  Layer.effect(
    WatchProbes,
    Effect.gen(function* () {
      const { note } = yield* Output
      const own = yield* makeWatchProbes(settings)
      // A command has one watch, which it asks for once.
      let asked: { readonly trial: WatchTrial | undefined } | undefined
      const ask = Effect.fnUntraced(function* (watch: WatchProbe) {
        if (asked !== undefined) return asked.trial
        const trial = yield* askServer(settings, watch)
        asked = { trial }
        if (trial === undefined)
          yield* note(
            `no server answers at ${addressOf(settings)}, which SERVICE_HOST and SERVICE_PORT name: this shell's settings decide\n`,
          )
        return trial
      })
      return {
        check: Effect.fnUntraced(function* (watch) {
          const isForAll = problemOfStrictest(watch) === undefined
          if (isForAll || (yield* ask(watch)) === undefined) yield* own.check(watch)
        }),
        run: Effect.fnUntraced(function* (watch) {
          return (yield* ask(watch)) ?? (yield* own.run(watch))
        }),
      }
    }),
  )
