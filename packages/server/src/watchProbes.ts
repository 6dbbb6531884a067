import { http } from "@tocsin/agent/probes/http"
import { judge } from "@tocsin/agent/probes/Finding"
import { tcp } from "@tocsin/agent/probes/tcp"
import type { Probe } from "@tocsin/agent/probes/Probe"
import { checkedLookup, isRefusedAddress, NameLookup } from "@tocsin/adapter-notify/http/checkedLookup"
import { ValidationError } from "@tocsin/contract/Errors"
import type { TryWatchRequest, WatchTrial } from "@tocsin/contract/Watches"
import { WatchProbes } from "@tocsin/core/ports/WatchProbes"
import { systemClock } from "@tocsin/agent/clock/Clock"
import { Duration, Effect, Layer, Semaphore } from "effect"
import type { Settings } from "./settings/Settings.ts"

/** Probes at a time; further ones wait. */
const CONCURRENCY = 8

/** The options of a probe as the agent's configuration has them. */
const optionsOf = ({
  timeout,
  ...options
}: NonNullable<TryWatchRequest["http"] | TryWatchRequest["tcp"]>): object => ({
  ...options,
  ...(timeout !== undefined && { wait: `${Duration.toMillis(timeout)}ms` }),
})

const hasUser = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && `${parsed.username}${parsed.password}` !== ""
}

/** The probes of the agent, with targets as these settings allow them (docs/rules.md#watches). */
export const watchProbes = (settings: Settings) =>
  Layer.effect(
    WatchProbes,
    Effect.gen(function* () {
      const policy = {
        denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
        denyLoopback: !settings.SERVICE_WATCH_LOOPBACK,
      }
      const targets = {
        lookup: checkedLookup(yield* NameLookup, policy),
        isRefused: (address: string) => isRefusedAddress(address, policy),
      }
      const permits = yield* Semaphore.make(CONCURRENCY)

      const probe = Effect.fnUntraced(function* <S>(
        name: string,
        { title, reader, run }: Probe<S>,
        options: object,
      ) {
        const problems: Array<string> = []
        const read = reader(options, {
          path: [],
          refuse: (message, path = []) => void problems.push(`${[name, ...path].join(".")} ${message}`),
        })
        if (read === undefined || problems.length > 0)
          return yield* new ValidationError({ message: problems.join("; ") })
        const begun = systemClock.steady()
        const finding = yield* Effect.promise((signal) => run(read, { clock: systemClock, signal, targets }))
        const { status, output } = judge(title, finding)
        const trial: WatchTrial = { status, output, duration_ms: Math.round(systemClock.steady() - begun) }
        return trial
      }, permits.withPermit)

      return {
        run: ({ http: page, tcp: connection }) => {
          if (page !== undefined && hasUser(page.url))
            return new ValidationError({ message: "http.url must not contain a user: use headers" })
          if (page !== undefined && connection === undefined) return probe("http", http, optionsOf(page))
          if (connection !== undefined && page === undefined) return probe("tcp", tcp, optionsOf(connection))
          return new ValidationError({ message: "give exactly one probe: http or tcp" })
        },
      }
    }),
  )
