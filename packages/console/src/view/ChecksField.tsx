import { type Signal, useSignal } from "@preact/signals"
import type { CheckAvailability, ExpectedCheckState } from "@tocsin/client"
import { useId } from "preact/hooks"
import { countText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { listOf, MOST } from "../state/lists.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { useLater } from "../state/useLater.ts"
import { useResource } from "./usePages.ts"

const TYPING_MILLIS = 300
const OFFERED = 50
/** A span in which checks are counted, which a clock that is a little ahead does not end in the future. */
const COUNTED_MILLIS = 600_000

type Named = Pick<ExpectedCheckState, "agent_id" | "check_id" | "title">

const operatorOf = (text: string): string => (text.includes("*") ? "glob" : "=")

/** The matchers of a text: a check by its title or `AGENT/CHECK`, a name with `*`, or matchers with commas between them. */
const matchersOf = (text: string, checks: ReadonlyArray<Named>): ReadonlyArray<string> => {
  const written = text.trim()
  if (written === "") return []
  const known = checks.find(
    ({ agent_id, check_id, title }) => title === written || `${agent_id}/${check_id}` === written,
  )
  if (known !== undefined) return [`agent_id = ${known.agent_id}`, `check_id = ${known.check_id}`]
  if (/[=~]| glob /.test(written)) return written.split(",").map((matcher) => matcher.trim())
  const [first = "", ...rest] = written.split("/")
  const check = rest.length === 0 ? first : rest.join("/")
  return [
    ...(rest.length === 0 || first === "" ? [] : [`agent_id ${operatorOf(first)} ${first}`]),
    ...(check === "" ? [] : [`check_id ${operatorOf(check)} ${check}`]),
  ]
}

/** The checks that a text may name, and how many its matchers have. */
export const useChecks = (text: Signal<string>) => {
  const asked = useSignal(text.peek())
  useLater(() => (asked.value = text.value), TYPING_MILLIS, [text.value])
  const search = /[=~*,]/.test(asked.value) ? "" : asked.value.replace("/", " ").trim()
  const { value: found } = useResource(
    `offered ${search}`,
    [],
    async () => (await listOf<Named>("ops/v1/checks", { search }, OFFERED).read(undefined)).items,
  )
  const offered = found ?? []
  const match = matchersOf(text.value, offered)
  const counted = matchersOf(asked.value, offered).join(",")
  const { value: count } = useResource(`count ${counted}`, [], async () => {
    if (counted === "") return undefined
    const from = new Date(now.peek() - COUNTED_MILLIS).toISOString()
    const query = { match: counted, from, limit: MOST }
    const { items, next_cursor } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", {
      query,
    })
    return `${countText(items.length, "check")}${(next_cursor ?? null) === null ? "" : " or more"}`
  })
  return { count, match, offered }
}

interface ChecksFieldProps extends Pick<ReturnType<typeof useChecks>, "count" | "offered"> {
  readonly text: Signal<string>
}

/** Offers the checks that exist, by title and id, and counts those that are meant. */
export const ChecksField = ({ count, offered, text }: ChecksFieldProps) => {
  const id = useId()
  return (
    <div class="field">
      <label>
        Checks
        <input
          list={id}
          value={text.value}
          autoComplete="off"
          placeholder="web-1/disk, or backup*"
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
      <datalist id={id}>
        {offered.map(({ agent_id, check_id, title }) => (
          <option key={`${agent_id}/${check_id}`} value={`${agent_id}/${check_id}`}>
            {title ?? ""}
          </option>
        ))}
      </datalist>
      <small role="status">{count}</small>
    </div>
  )
}
