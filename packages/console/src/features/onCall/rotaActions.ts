import type { NewOverride, Override, RotaPlan } from "@tocsin/client"
import { segment } from "../../api/request.ts"
import { momentText } from "../../format/times.ts"
import { call } from "../../state/session.ts"
import { type Message, UNDONE } from "../../state/useAction.ts"

export const rotaPath = (name: string): string => `ops/v1/rotas/${segment(name)}`

export const namesText = (names: ReadonlyArray<string>): string => names.join(", ")

/** A time for which the same receivers are on call. */
export interface Turn extends Pick<RotaPlan["turns"][number], "by" | "receivers"> {
  readonly from: number
  readonly to: number
  /** Whom an override that is not yet made would replace. */
  readonly instead?: ReadonlyArray<string>
  readonly gaps?: RotaPlan["gaps"]
}

/** The turns of a rota, each with its receivers whose messages do not arrive. */
export const turnsOf = ({ gaps, turns }: Pick<RotaPlan, "gaps" | "turns">): ReadonlyArray<Turn> =>
  turns.map(({ from, to, ...turn }) => ({
    ...turn,
    from: Date.parse(from),
    to: Date.parse(to),
    gaps: gaps.filter((gap) => gap.from === from),
  }))

/** Names with a verb: `ann comes`, `ann, bob come`; nothing without names. */
const doText = (names: ReadonlyArray<string>, verb: string): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${namesText(names)} ${verb}${names.length === 1 ? "s" : ""}`]

/** The changes by an override from now on, which is the latest and so counts: as turns, and as people say them. */
export const previewOf = (
  turns: ReadonlyArray<Turn>,
  { receivers, to }: Pick<Turn, "receivers" | "to">,
  now: number,
) => {
  const replaced = turns.filter(({ from }) => from < to).flatMap((turn) => turn.receivers)
  const instead = Array.from(new Set(replaced)).filter((name) => !receivers.includes(name))
  const follower = turns.find((turn) => turn.from <= to && to < turn.to)
  const of = (names: Turn["receivers"], isPresent: boolean) =>
    names.filter((name) => (turns[0]?.receivers.includes(name) ?? false) === isPresent)
  const acts = [
    ...doText(of(receivers, false), "come"),
    ...doText(of(instead, true), "leave"),
    ...doText(of(receivers, true), "stay"),
  ]
  const missed = of(instead, false)
  const text = [
    `Now ${acts.join(" and ")}.`,
    ...(missed.length === 0 ? [] : [`Without it, ${namesText(missed)} would come before its end.`]),
    ...doText(follower?.receivers ?? [], "follow").map((follows) => `At ${momentText(to, now)}, ${follows}.`),
  ].join(" ")
  const taken: Turn = { from: now, to, receivers, by: "override", instead }
  return { text, turns: follower === undefined ? [taken] : [taken, { ...follower, from: to }] }
}

/** Puts receivers on call. Undo ends that. */
export const takeOver = async (rota: string, body: NewOverride): Promise<Message> => {
  const path = `${rotaPath(rota)}/overrides`
  const { id, receivers } = await call<Override>("POST", path, { body })
  return {
    text: `${namesText(receivers)} on call in ${rota}`,
    undo: async () => {
      await call("DELETE", `${path}/${segment(id)}`)
      return UNDONE
    },
  }
}

/** Ends an override now. Undo creates it again, as the latest, unless the policy lacks one of its receivers. */
export const endOverride = async (override: Override): Promise<Message> => {
  const { from, id, missing, note, receivers, rota, state, to } = override
  await call("DELETE", `${rotaPath(rota)}/overrides/${segment(id)}`)
  const [first = "", ...others] = receivers
  const times = state === "scheduled" ? { from, to } : { to }
  const undo = async () => {
    await takeOver(rota, { ...times, receivers: [first, ...others], ...(note !== null && { note }) })
    return UNDONE
  }
  return { text: "Ended the override", ...(missing.length === 0 && { undo }) }
}
