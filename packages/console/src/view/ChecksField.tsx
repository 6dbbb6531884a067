import { type Signal, useSignal } from "@preact/signals"
import type { CheckAvailability, ExpectedCheckState } from "@tocsin/client"
import { useEffect, useId, useRef } from "preact/hooks"
import { hintOf } from "../api/ApiFailure.ts"
import { countText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { useDraft } from "../state/drafts.ts"
import { listOf, MOST } from "../state/lists.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { useLater } from "../state/useLater.ts"
import { checkNamed } from "./matched.ts"
import { useResource } from "./usePages.ts"

const TYPING_MILLIS = 300
const OFFERED = 50
/** A span in which checks are counted, which a clock that is a little ahead does not end in the future. */
const COUNTED_MILLIS = 600_000

const NONE = "0 checks: write a title, an ID, or a name with *"

type Named = Pick<ExpectedCheckState, "agent_id" | "check_id" | "title">

const operatorOf = (text: string): string => (text.includes("*") ? "glob" : "=")

const knownIn = (checks: ReadonlyArray<Named>, text: string): Named | undefined =>
  checks.find(({ agent_id, check_id, title }) => [title, `${agent_id}/${check_id}`].includes(text))

/** Whether a text with `*` for any characters is a text as a whole. */
const globIn = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll(/[$()+.[\\\]^{|}]/g, "\\$&").replaceAll(/\*+/g, ".*")}$`, "s")

/** Whether a text is a part of titles, or has `*` for one, and no ID has it; all offers must be known. */
const isOfTitles = (checks: ReadonlyArray<Named>, text: string): boolean => {
  if (!/^[^/,?[\\]+$/.test(text) || checks.length >= OFFERED) return false
  const [whole, part] = [globIn(text), globIn(text.includes("*") ? text : `*${text}*`)]
  return (
    checks.some(({ title }) => part.test(title ?? "")) && !checks.some(({ check_id }) => whole.test(check_id))
  )
}

/** The longest part of a text without `*`, by which the service finds what it may name. */
const searchOf = (text: string): string => {
  const [longest = ""] = text.split("*").toSorted((a, b) => b.length - a.length)
  return /[=~,]/.test(text) ? "" : longest.replace("/", " ").trim()
}

/**
 * The matchers of a text: a check by its title or `AGENT/CHECK`, a part of titles, a title or a name with `*`, or matchers
 * with commas between them.
 */
const matchersOf = (text: string, checks: ReadonlyArray<Named>): ReadonlyArray<string> => {
  const written = text.trim()
  if (written === "") return []
  const known = knownIn(checks, written)
  if (known !== undefined) return [`agent_id = ${known.agent_id}`, `check_id = ${known.check_id}`]
  if (/[=~]| glob /.test(written)) return written.split(",").map((matcher) => matcher.trim())
  if (isOfTitles(checks, written))
    return [`label:title glob ${written.includes("*") ? written : `*${written}*`}`]
  const [first = "", ...rest] = written.split("/")
  const check = rest.length === 0 ? first : rest.join("/")
  return [
    ...(rest.length === 0 || first === "" ? [] : [`agent_id ${operatorOf(first)} ${first}`]),
    ...(check === "" ? [] : [`check_id ${operatorOf(check)} ${check}`]),
  ]
}

/** Matchers as the text of a field: one check as `AGENT/CHECK`. */
const textOf = (match: ReadonlyArray<string>): string => checkNamed(match) ?? match.join(", ")

/** Matchers of checks as a form changes them: the text of its field, and what that means. */
export const useChecks = (form: string, former: ReadonlyArray<string> = []) => {
  const text = useDraft(form, "checks", textOf(former))
  const { current: given } = useRef(former)
  const asked = useSignal(text.peek())
  useLater(() => (asked.value = text.value), TYPING_MILLIS, [text.value])
  const search = searchOf(asked.value)
  const { failure, value: found } = useResource(
    `offered ${search}`,
    [],
    async () => (await listOf<Named>("ops/v1/checks", { search }, OFFERED).read(undefined)).items,
  )
  const offered = found ?? []
  // A text that nobody edited means what it was made of, which it may not be able to say.
  const read = (written: string) =>
    [textOf(given), given.join(", ")].includes(written) ? given : matchersOf(written, offered)
  const match = read(text.value)
  // Checks are counted whatever their severity is now.
  const counted = read(asked.value)
    .filter((matcher) => !/^severity\b/.test(matcher))
    .join(",")
  const { failure: uncounted, value: count } = useResource(`count ${counted}`, [], async () => {
    if (counted === "") return undefined
    const from = new Date(now.peek() - COUNTED_MILLIS).toISOString()
    const query = { match: counted, from, limit: MOST }
    const { items, next_cursor } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", {
      query,
    })
    if (items.length === 0) return NONE
    return `${countText(items.length, "check")}${(next_cursor ?? null) === null ? "" : " or more"}`
  })
  const named = knownIn(offered, text.value.trim())
  // Until the offers are there, a part of titles would mean an ID.
  const isUnread = found === undefined && match !== given
  const isCounting = counted !== "" && count === undefined && uncounted === undefined
  const isAwaited = asked.value !== text.value || isUnread || isCounting
  const said = !isUnread
    ? count
    : failure === undefined
      ? "Reading the checks …"
      : `The checks could not be read: ${failure.message}. ${hintOf(failure)}`
  const title = named?.title ?? named?.check_id ?? ""
  // A former text stays as it was, whether or not there is a check of it now.
  const isOfNone = count === NONE && match !== given
  return { match, isAwaited, isOfNone, title, field: { offered, said, text } }
}

type ChecksFieldProps = ReturnType<typeof useChecks>["field"]

/** Offers the checks that exist, by title and id, and counts those that are meant. */
export const ChecksField = ({ offered, said, text }: ChecksFieldProps) => {
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
      <small role="status" class={said === NONE ? "preview is-warning" : undefined}>
        {said}
      </small>
    </div>
  )
}

interface MatchFieldProps {
  /** The name of the form. */
  readonly form: string
  /** The matchers, which follow the text. */
  readonly of: Signal<ReadonlyArray<string>>
  /** Whether it is not known yet what the text means. */
  readonly isAwaited: Signal<boolean>
}

/** The field in a form of another script. */
export const MatchField = ({ form, isAwaited, of }: MatchFieldProps) => {
  const { field, isAwaited: waits, match } = useChecks(form, of.peek())
  useEffect(() => {
    of.value = match
    isAwaited.value = waits
  }, [match.join("\n"), waits])
  return <ChecksField {...field} />
}
