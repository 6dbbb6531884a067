import { useSignal } from "@preact/signals"
import type { ExpectedCheckState, Numbers } from "@tocsin/client"
import { useEffect } from "preact/hooks"
import { now } from "../state/clock.ts"
import { call } from "../state/session.ts"
import { width } from "./Listing.tsx"
import { useResource } from "./usePages.ts"

type CheckName = Pick<ExpectedCheckState, "agent_id" | "check_id">

const Drawn = ({ agent_id, check_id }: CheckName) => {
  const read = async () => {
    const [{ smallLineOf, numberText }, numbers] = await Promise.all([
      import("../charts/charts.ts"),
      call<Numbers>("GET", "ops/v1/numbers", { query: { agent_id, check_id } }),
    ])
    const { name, unit, path, least, most, last } = smallLineOf(numbers, now.peek()) ?? {}
    if (path === undefined) return undefined
    const [from, to, value] = [least, most, last].map((each = 0) => numberText(each, unit ?? ""))
    return { path, value, title: `${name} in the last day: ${from} to ${to}` }
  }
  // Only time moves it, and each row sends a request.
  const { value: line } = useResource(`line of ${agent_id}/${check_id}`, [], read, true)
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

/** Rows that a reader scrolls past ask for nothing. */
const REST_MILLIS = 400

/** The last day of the series of a check that says most, where a row has room. */
export const SmallLine = (check: ExpectedCheckState) => {
  const rests = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => (rests.value = true), REST_MILLIS)
    return () => clearTimeout(timer)
  }, [])
  return width.value === "narrow" ? null : (
    <span class="small-line">{rests.value && check.status !== null && <Drawn {...check} />}</span>
  )
}
