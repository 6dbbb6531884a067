import type { Agent, Silence, SilencePreview } from "@tocsin/client"
import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import { formatMatcher, limitsAgents, readMatcher } from "@tocsin/contract/labels/matcherText"
import { failureAfter } from "../../api/ApiFailure.ts"
import { segment } from "../../api/request.ts"
import { countText } from "../../format/times.ts"
import { linkTo } from "../../state/Route.ts"
import { call } from "../../state/session.ts"
import { confirmed, type Message, UNDONE } from "../../state/useAction.ts"

/** When a silence ends, as the API takes it, and the moment that this is. */
interface SilenceEnd {
  readonly ends: { readonly for: string } | { readonly ends_at: string }
  readonly at: number
}

/** The lengths of a silence that the API takes. */
const SPAN = { min: 1_000, max: 366 * 86_400_000 }
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/

/** Reads a duration such as `2h`, or the next time of day such as `08:00` in the reader's zone. */
export const readEnd = (text: string, begin: number): SilenceEnd | undefined => {
  const millis = boundedMillis(text, SPAN)
  if (millis !== undefined) return { ends: { for: text }, at: begin + millis }
  const [, hours, minutes] = CLOCK.exec(text) ?? []
  if (hours === undefined) return undefined
  const end = new Date(begin)
  const setTime = () => end.setHours(Number(hours), Number(minutes), 0, 0)
  setTime()
  if (end.getTime() <= begin) {
    end.setDate(end.getDate() + 1)
    // A change of the clock today moved the time, but not that of tomorrow.
    setTime()
  }
  return { ends: { ends_at: end.toISOString() }, at: end.getTime() }
}

export const noEnd = (text: string): string =>
  `“${text}” is neither a duration such as 2h nor a time of day such as 08:00.`

type Matcher = Silence["matchers"][number]

/** Whether all matchers of a silence that limit agents hold for this one; not if it has none. */
export const concerns = (
  { matchers }: Pick<Silence, "matchers">,
  { agent_id, hostname, labels = {} }: Pick<Agent, "agent_id" | "hostname" | "labels">,
): boolean => {
  const facts = new Map(Object.entries(labels).map(([name, value]) => [`label:${name}`, value]))
  facts.set("agent_id", agent_id).set("hostname", hostname)
  const limits = matchers.filter(limitsAgents)
  return (
    limits.length > 0 &&
    limits.every(({ field, op, value }) => {
      const own = facts.get(field) ?? ""
      return op === "glob" ? compileGlob(value)(own) : (own === value) === (op === "=")
    })
  )
}

/**
 * Reads matchers as a policy writes them, one a line: `agent_id glob web-*`. A text that was filled in
 * and not edited is read as what was given: a line cannot state outer spaces of a value.
 */
export const parseMatchers = (
  text: string,
  given: ReadonlyArray<Matcher> = [],
): { readonly matchers: ReadonlyArray<Matcher>; readonly fault: string | undefined } => {
  if (text === matchersText(given)) return { matchers: given, fault: undefined }
  const matchers: Array<Matcher> = []
  for (const written of text.split("\n")) {
    const line = written.trim()
    const matcher = line === "" ? undefined : readMatcher(line)
    if (typeof matcher === "string") return { matchers: [], fault: `“${line}” ${matcher}.` }
    if (matcher !== undefined) matchers.push(matcher)
  }
  return { matchers, fault: undefined }
}

/** Writes matchers as {@link parseMatchers} reads them. */
export const matchersText = (matchers: ReadonlyArray<Matcher>): string =>
  matchers.map(formatMatcher).join("\n")

/** A silence to create; one for each list of matchers. */
export interface NewSilences {
  readonly lists: ReadonlyArray<ReadonlyArray<Matcher>>
  readonly ends: SilenceEnd["ends"]
  /** When they begin; now without. */
  readonly startsAt: string | undefined
  readonly comment: string
}

/** Matchers that silence an incident, and the next ones of its key. */
export const keyMatchers = (incident_key: string): ReadonlyArray<Matcher> => [
  { field: "incident_key", op: "=", value: incident_key },
]

const isByKey = ({ field, op }: Matcher): boolean => field === "incident_key" && op === "="

/** One incident of each key, which resolved ones may share. */
export const oneOfEachKey = <One extends { readonly incident_key: string }>(
  incidents: ReadonlyArray<One>,
): ReadonlyArray<One> => Array.from(new Map(incidents.map((each) => [each.incident_key, each])).values())

/** Where a silence of an agent, or of one of its checks, is created. */
export const silenceOf = (subject: { readonly agent_id: string; readonly check_id?: string }): string => {
  const lines = Object.entries(subject).map(([field, value]) => `${field} = ${value}`)
  return linkTo("silences", [], { matchers: lines.join("\n") })
}

const PATH = "ops/v1/silences"
const path = ({ id }: Silence): string => `${PATH}/${segment(id)}`

const bodyOf = ({ ends, startsAt, comment }: NewSilences, matchers: ReadonlyArray<Matcher>) => ({
  matchers,
  ...ends,
  comment,
  ...(startsAt !== undefined && { starts_at: startsAt }),
})

/** The coverage of silences, summed where there are several: no two may have the same key. */
export const preview = async (silences: NewSilences): Promise<Omit<SilencePreview, "sample">> => {
  const previews: Array<SilencePreview> = []
  for (const matchers of silences.lists) {
    const body = bodyOf({ ...silences, comment: silences.comment.trim() || "preview" }, matchers)
    previews.push(await call<SilencePreview>("POST", PATH, { query: { dry_run: true }, body }))
  }
  const sum = (count: (each: SilencePreview) => number) =>
    previews.reduce((all, each) => all + count(each), 0)
  return {
    // Each counts all agents that its matchers allow, so that several do not add up.
    agents: Math.max(0, ...previews.map(({ agents }) => agents)),
    open_incidents: sum(({ open_incidents }) => open_incidents),
    held_now: sum(({ held_now }) => held_now),
    needs_confirm: previews.some(({ needs_confirm }) => needs_confirm),
  }
}

/**
 * Creates silences. One that covers much asks first, with the count. Each that was created is named to
 * `follow`: after a failure, only the others are left to create.
 */
export const create = async (
  silences: NewSilences,
  follow: (matchers: NewSilences["lists"][number]) => void,
): Promise<Message | undefined> => {
  // One by key needs no confirmation, and a count for each of 200 takes long.
  const broad = { ...silences, lists: silences.lists.filter((matchers) => !matchers.some(isByKey)) }
  const { agents, needs_confirm } = await preview(broad)
  const question = `This silence covers ${countText(agents, "agent")}, more than half of all. Silence them?`
  if (needs_confirm && !(await confirmed(question, "Silence them all"))) return undefined
  const made: Array<Silence> = []
  const done = () => `Created ${countText(made.length, "silence")}`
  for (const matchers of silences.lists) {
    const body = { ...bodyOf(silences, matchers), ...(needs_confirm && { confirm: true }) }
    try {
      made.push(await call<Silence>("POST", PATH, { body }))
    } catch (error) {
      throw made.length === 0 ? error : failureAfter(done(), error)
    }
    follow(matchers)
  }
  return {
    text: done(),
    undo: async () => {
      for (const silence of made) await call("DELETE", path(silence))
      return UNDONE
    },
  }
}

const HOUR = 3_600_000

/** A silence as it is now: another operator may have changed it since its row was read. */
const readNow = (silence: Silence) => call<Silence>("GET", path(silence))

/** Moves the end of a silence by an hour. Undo leaves an end that was moved again. */
export const extend = async (silence: Silence): Promise<Message> => {
  const before = await readNow(silence)
  const body = { ends_at: new Date(Date.parse(before.ends_at) + HOUR).toISOString() }
  const { ends_at } = await call<Silence>("PATCH", path(silence), { body })
  return {
    text: "Extended the silence by 1 h",
    undo: async () => {
      if ((await readNow(silence)).ends_at !== ends_at)
        return { text: "Left the end as it is: it was moved again" }
      await call("PATCH", path(silence), { body: { ends_at: before.ends_at } })
      return UNDONE
    },
  }
}

/** Ends a silence now. Undo creates it again: one that has ended stays ended. */
export const expire = async (silence: Silence): Promise<Message> => {
  const { matchers, starts_at, ends_at, comment, state } = await readNow(silence)
  await call("DELETE", path(silence))
  const body = { matchers, ends_at, comment, confirm: true, ...(state === "scheduled" && { starts_at }) }
  return {
    text: "Ended the silence; what it held is sent",
    undo: async () => {
      await call("POST", PATH, { body })
      return UNDONE
    },
  }
}
