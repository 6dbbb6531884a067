import { Record } from "effect"
import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { problem, type Problems } from "./problemsAt.ts"

/** A policy whose rotas, windows, quiet hours and rules of freshness have its time zone where they have none. */
export const withZones = (document: PolicyDocument): PolicyDocument => {
  const { freshness, receivers, rotas, tz, windows } = document
  if (tz === undefined || timeZoneOf(tz) === undefined) return document
  return {
    ...document,
    ...(rotas && { rotas: Record.map(rotas, (rota) => ({ tz, ...rota })) }),
    ...(windows && { windows: windows.map((window) => ({ tz, ...window })) }),
    ...(freshness && {
      freshness: freshness.map((rule) => (rule.cron === undefined ? rule : { tz, ...rule })),
    }),
    ...(receivers && {
      receivers: Record.map(receivers, (receiver) =>
        receiver.quiet === undefined ? receiver : { ...receiver, quiet: { tz, ...receiver.quiet } },
      ),
    }),
  }
}

const zoneOfRota = ({ rotas = {} }: PolicyDocument, name: string) =>
  Object.hasOwn(rotas, name) ? (rotas[name]?.tz ?? "UTC") : undefined

/** Warnings of rotas that go by another clock, because the time zone of the policy is another one. */
export const movedRotas = (before: PolicyDocument, after: PolicyDocument): Problems => {
  const [from, to] = [withZones(before), withZones(after)]
  return Object.keys(after.rotas ?? {}).flatMap((name): Problems => {
    const [was, is] = [zoneOfRota(from, name), zoneOfRota(to, name)]
    if (was === undefined || was === is || before.tz === after.tz) return []
    return [
      problem(
        `goes by the clock of ${is} instead of ${was}, as the policy does: give it a tz of its own unless that is meant`,
        "rotas",
        name,
      ),
    ]
  })
}
