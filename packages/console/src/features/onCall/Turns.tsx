import type { RotaPlan } from "@tocsin/client"
import { clockText, momentText, weekdayText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { namesText, type Turn } from "./rotaActions.ts"

/** Who is on call, and why unless it is their turn. */
export const Names = ({ by, receivers }: Pick<Turn, "by" | "receivers">) => (
  <>
    <b>{namesText(receivers)}</b>
    {by === "override" && <em class="is-taken">override</em>}
    {by === "otherwise" && <em>outside its hours</em>}
  </>
)

const GAPS: Readonly<Record<RotaPlan["gaps"][number]["reason"], string>> = {
  shadow: "is a shadow",
  quiet: "is quiet at times",
  unavailable: "is out of reach",
  refused: "refuses messages",
}

/** When a turn is, on its day. The first may have begun before, and the last goes on. */
const timeText = ({ from, to }: Turn, isFirst: boolean, isLast: boolean): string => {
  const isNow = isFirst && from <= now.peek()
  if (isLast) return isNow ? "from now on" : `from ${clockText(from)}`
  return isNow ? `until ${momentText(to, from)}` : `${clockText(from)} – ${momentText(to, from)}`
}

/** Turns, each beside the day on which it begins. */
export const Turns = ({ label, turns }: { readonly label: string; readonly turns: ReadonlyArray<Turn> }) => (
  <ol class="plain" aria-label={label}>
    {turns.map((turn, place) => {
      const { from, gaps = [], instead = [] } = turn
      const day = weekdayText(from)
      const isSameDay = place > 0 && weekdayText(turns[place - 1]?.from ?? 0) === day
      return (
        <li class="row turn" key={from}>
          <b>{isSameDay ? <span class="unseen">{day}</span> : day}</b>
          <span>{timeText(turn, place === 0, place === turns.length - 1)}</span>
          <span class="notes">
            <Names {...turn} />
            {instead.length > 0 && <span>instead of {namesText(instead)}</span>}
            {gaps.map(({ message, reason, receiver }) => (
              <em key={message} class={reason === "quiet" ? "is-held" : "is-failed"} title={message}>
                {receiver} {GAPS[reason]}
              </em>
            ))}
          </span>
        </li>
      )
    })}
  </ol>
)
