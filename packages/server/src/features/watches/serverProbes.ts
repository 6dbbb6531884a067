import { isIP } from "node:net"
import { encodeProbe, type WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import type { WatchTrial } from "@tocsin/contract/watches/Watches"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { Effect, Layer, Result } from "effect"
import { Output } from "../../output/Output.ts"
import type { Settings } from "../../settings/Settings.ts"
import { watchProblem } from "./watchTargets.ts"

/** Where a server with these settings answers this machine. */
export const addressOf = ({ SERVICE_HOST: host, SERVICE_PORT: port }: Settings): string => {
  const near = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${isIP(near) === 6 ? `[${near}]` : near}:${port}`
}

const problemOfStrictest = watchProblem({
  denyPrivateTargets: true,
  denyLoopback: true,
  opensReading: false,
})

/**
 * The probes of a command: the running server's, by the server's settings, if it answers. A target that
 * every server may reach is not tried before its watch is created.
 */
export const serverProbes = (settings: Settings) =>
  Layer.effect(
    WatchProbes,
    Effect.gen(function* () {
      const { note } = yield* Output
      // Other commands do without the probes.
      const own = yield* Effect.cached(
        Effect.flatMap(
          Effect.promise(() => import("./watchProbes.ts")),
          ({ makeWatchProbes }) => makeWatchProbes(settings),
        ),
      )
      // A command has one watch, which it asks for once.
      let asked: { readonly trial: WatchTrial | undefined } | undefined
      const ask = Effect.fnUntraced(function* (watch: WatchProbe) {
        if (asked !== undefined) return asked.trial
        const { askServer } = yield* Effect.promise(() => import("../../commands/askServer.ts"))
        const trial = yield* askServer(addressOf(settings), settings, (client) =>
          client.watches.try(encodeProbe(watch)),
        )
        asked = { trial }
        if (trial === undefined)
          yield* note(
            `no server answers at ${addressOf(settings)}, which SERVICE_HOST and SERVICE_PORT name: this shell's settings decide\n`,
          )
        return trial
      })
      return {
        // Only a server that runs watches has the secrets of its policy.
        open: () => Result.succeed({}),
        check: Effect.fnUntraced(function* (watch) {
          const isForAll = problemOfStrictest(watch) === undefined
          if (isForAll || (yield* ask(watch)) === undefined) yield* (yield* own).check(watch)
        }),
        run: Effect.fnUntraced(function* (watch) {
          return (yield* ask(watch)) ?? (yield* (yield* own).run(watch))
        }),
      }
    }),
  )
