import type { ExpectedCheckState, Numbers, SeriesOfCheck } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { now } from "../state/clock.ts"
import { call } from "../state/session.ts"
import { useRested } from "./rested.ts"
import type { Hidden } from "./sight.ts"
import { useResource } from "./usePages.ts"

type CheckInState = Pick<ExpectedCheckState, "agent_id" | "check_id" | "status">

const Drawn = ({ agent_id, check_id, status }: CheckInState) => {
  const read = async () => {
    const [{ smallLineOf, numberText }, numbers, { items }] = await Promise.all([
      import("../features/numbers/charts.ts"),
      call<Numbers>("GET", "ops/v1/numbers", { query: { agent_id, check_id } }),
      // Bounds say which series is bad.
      status === "ok"
        ? { items: [] }
        : call<SeriesOfCheck>("GET", `ops/v1/checks/${segment(agent_id)}/${segment(check_id)}/numbers`),
    ])
    const { name, unit, path, least, most, last } = smallLineOf(numbers, items, now.peek()) ?? {}
    if (path === undefined) return undefined
    const [from, to, value] = [least, most, last].map((each = 0) => numberText(each, unit ?? ""))
    return { path, value, title: `${name} in the last day: ${from} to ${to}` }
  }
  // Only time moves it, and each row sends a request.
  const { value: line } = useResource(`line of ${agent_id}/${check_id} ${status}`, [], read, true)
  return line === undefined ? null : (
    <>
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={line.title}>
        <title>{line.title}</title>
        <path d={line.path} />
      </svg>
      <small>{line.value}</small>
    </>
  )
}

/** The last day of the series of a check that is bad, or else says most. */
export const SmallLine = ({ hidden, ...check }: CheckInState & { readonly hidden: Hidden }) => {
  const isRested = useRested(hidden)
  return <span class="small-line">{isRested && <Drawn {...check} />}</span>
}
