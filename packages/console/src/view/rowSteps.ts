import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { rowCount } from "../state/Pages.ts"
import { useLater } from "../state/useLater.ts"
import { type Listed, MOST_WHOLE } from "./usePages.ts"

/** Rows become elements in steps, before and after which the browser answers its reader. */
const [STEP, STEP_MILLIS] = [32, 20]
/** The rows in sight come first. */
const WHOLE_AFTER_MILLIS = 1_000

/** How many rows, from the first one on, are elements whether they are in sight or not. */
export const useWhole = ({ pages, readWhole }: Listed<unknown>, inSight: number, stay: number): number => {
  const drawn = useSignal(inSight)
  const most = Math.min(rowCount(pages), MOST_WHOLE)
  useLater(readWhole, WHOLE_AFTER_MILLIS, [])
  useLater(() => (drawn.value += STEP), drawn.value < most ? STEP_MILLIS : undefined, [drawn.value, most])
  return Math.min(drawn.value, most, stay)
}

/** So many rows of a list that is left go in one step, and so many of them with the first rows of the next list. */
const [LEAVING, LAST] = [128, 32]

/** The list to show, and how many of its rows: one that is left shrinks before the next is there. */
export const useInSteps = <Props extends { readonly listed: Listed<unknown> }>(
  next: Props,
): readonly [Props, number] => {
  const shown = useRef(next)
  const stay = useSignal(MOST_WHOLE)
  const isLeaving =
    next.listed.key !== shown.current.listed.key &&
    Math.min(stay.value, rowCount(shown.current.listed.pages)) > LAST
  if (!isLeaving) shown.current = next
  useLater(() => (stay.value = isLeaving ? Math.max(LAST, stay.value - LEAVING) : MOST_WHOLE), 0, [
    isLeaving,
    stay.value,
  ])
  return [shown.current, stay.value]
}
