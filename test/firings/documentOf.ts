import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result } from "effect"
import type { Policy, Rota } from "./Story.ts"

const timeOfDay = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(11, 16)
const [HOUR, DAY] = [3_600, 86_400]
const DURATIONS = ["again_after", "after", "within", "remind", "grace", "for"]
const asText = (name: string, value: unknown): unknown => (DURATIONS.includes(name) ? `${value}s` : value)

/** One receiver stands for itself, and one name of `otherwise` for a receiver or a rota. */
const alone = (names: ReadonlyArray<string>) => (names.length === 1 ? names[0] : names)

const rotaOf = ({ every, hours, order, otherwise, ...rota }: Rota) => ({
  ...rota,
  order: order.map(alone),
  every: every % DAY === 0 ? `${every / DAY}d` : `${every / HOUR}h`,
  ...(otherwise && { otherwise: alone(otherwise) }),
  ...(hours && {
    hours: hours.map(({ from, to, ...days }) => ({ hours: `${timeOfDay(from)}-${timeOfDay(to)}`, ...days })),
  }),
})

/** The document of a policy: receivers with quiet hours are defined there. */
export const documentOf = (
  { quiet = {}, rotas, windows, ...policy }: Policy,
  receivers: ReadonlyArray<string>,
) => {
  const defined = receivers.map((name) => {
    const { below, from, to } = quiet[name] ?? { from: 0, to: 0 }
    const hours = `${timeOfDay(from)}-${timeOfDay(to)}`
    return [name, { kind: "debug", ...(below && { quiet: { hours, tz: "UTC", below } }) }] as const
  })
  const document = {
    ...policy,
    ...(rotas && {
      rotas: Object.fromEntries(Object.entries(rotas).map(([name, rota]) => [name, rotaOf(rota)])),
    }),
    ...(Object.keys(quiet).length > 0 && { receivers: Object.fromEntries(defined) }),
    ...(windows && {
      windows: windows.map(({ every, ...window }, at) => ({
        name: `w${at}`,
        tz: "Europe/Berlin",
        cron: `*/${every / 60} * * * *`,
        ...window,
      })),
    }),
  }
  return Result.getOrThrow(readPolicy(JSON.parse(JSON.stringify(document, asText)), receivers))
}
