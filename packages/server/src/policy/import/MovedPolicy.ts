import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { idOfTitle } from "@tocsin/contract/titles/idOfTitle"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { isLabels, MAX_LABELS } from "@tocsin/contract/labels/Labels"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { LONGEST_TITLE } from "@tocsin/contract/titles/Titles"
import { MOST_WATCHES } from "@tocsin/contract/watches/Watches"
import { Result } from "effect"
import { namesOf } from "./receiverNames.ts"

/** A setting of the other program that a policy takes over, its secrets as variables. */
export type Taken = Readonly<Record<string, unknown>>

/** Of whom the routes of what is taken over: the watches, or an integration. */
const WATCHES = "watches"
const NOBODY = "nobody"
const MOST_NAME = 64

/** A label that a part of the other program becomes, and what people call that there. */
export type MovedLabel = readonly [key: string, value: string, words: string]

export const titleOf = (name: unknown): string =>
  Array.from(plainLine(String(name ?? "")))
    .slice(0, LONGEST_TITLE)
    .join("")
    .trim()

/** A policy that is made of another program's settings, with what it lacks. */
export class MovedPolicy {
  readonly #notes: Array<string> = []
  readonly #runs = new Set<string>()
  readonly #ids = new Set<string>()
  readonly #values = new Map<string, string>()
  readonly #parts: {
    readonly receivers: Record<string, object>
    readonly routes: Array<object>
    readonly freshness: Array<object>
    readonly windows: Array<{ readonly name: string }>
    readonly watches: Array<Taken>
    readonly pages: Record<string, object>
  } = { receivers: {}, routes: [], freshness: [], windows: [], watches: [], pages: {} }

  /** Names something that is not taken over, and why. */
  leave(name: unknown, why: string): void {
    this.#notes.push(plainLine(`${titleOf(name) || "without a name"}: ${why}`))
  }

  /** A name of its own, made of a title. */
  id(title: string, otherwise: string): string {
    let own = idOfTitle(title, otherwise)
    for (let number = 2; this.#ids.has(own); number++) own = idOfTitle(title, otherwise, number)
    this.#ids.add(own)
    return own
  }

  /** Where the policy finds a secret, whose value is printed only on request. */
  secret(name: string, value: string): { readonly env: string } {
    const base = `TOCSIN_SECRET_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`.slice(0, MOST_NAME)
    let env = base
    for (let number = 2; this.#values.has(env); number++) env = `${base}_${number}`
    this.#values.set(env, value)
    return { env }
  }

  /** The labels of a watch. Those that it cannot have are named. */
  labels(name: unknown, given: ReadonlyArray<MovedLabel>): { readonly labels?: Taken } {
    const labels = new Map<string, string>()
    for (const [key, value, words] of given)
      if (labels.has(key) || labels.size === MAX_LABELS || !isLabels({ [key]: value }))
        this.leave(name, `its ${words}, which its labels cannot have`)
      else labels.set(key, value)
    return labels.size === 0 ? {} : { labels: Object.fromEntries(labels) }
  }

  /** Whether a policy can state a part. One that none can is named. */
  #fits(name: unknown, part: object): boolean {
    const read = readPolicy(part, [])
    if (Result.isSuccess(read)) return true
    const [first] = read.failure
    this.leave(name, first ? `${fieldPath(first.path.slice(2))} ${first.message}`.trim() : "no policy has it")
    return false
  }

  /** Receivers by their names in the other program; `undefined` for one that no policy can state. */
  receivers(
    all: ReadonlyArray<readonly [name: string, receiver: object]>,
  ): (name: string) => string | undefined {
    const nameOf = namesOf([NOBODY, ...all.map(([name]) => name)])
    for (const [name, receiver] of all)
      if (this.#fits(name, { receivers: { [nameOf(name)]: receiver } }))
        this.#parts.receivers[nameOf(name)] = receiver
    return (name) => (Object.hasOwn(this.#parts.receivers, nameOf(name)) ? nameOf(name) : undefined)
  }

  /** Whether a policy can state a watch, which it then has. */
  watch(watch: Taken & { readonly name: string; readonly title?: string }): boolean {
    const { watches } = this.#parts
    if (watches.length === MOST_WATCHES) {
      this.leave(watch.title ?? watch.name, `a policy has at most ${MOST_WATCHES} watches`)
      return false
    }
    const isTaken = this.#fits(watch.title ?? watch.name, { watches: [watch] })
    if (isTaken) watches.push(watch)
    return isTaken
  }

  /**
   * A check whose results others push to an integration, which a command adds. Returns whether a policy can state its
   * terms, which it then has.
   */
  job({ check, integration, kind, title }: MovedJob, terms: object): boolean {
    const rule = { match: matchOf(check, integration), ...terms }
    if (!this.#fits(title, { freshness: [rule] })) return false
    this.#runs.add(`tocsin integrations add ${integration} --kind ${kind}`)
    this.#parts.freshness.push(rule)
    return true
  }

  /** Who is notified of a check: receivers of the policy, or nobody where none was. */
  route(check: string, to: ReadonlyArray<string>, agent = WATCHES): void {
    if (to.length === 0) this.#parts.receivers[NOBODY] = { kind: "debug", shadow: true }
    this.#parts.routes.push({ match: matchOf(check, agent), to: to.length === 0 ? [NOBODY] : to })
  }

  window(title: string, window: Taken & { readonly name: string }): void {
    const known = new Set(this.#parts.windows.map(({ name }) => name))
    let { name } = window
    for (let number = 2; known.has(name); number++) name = `${window.name}-${number}`
    const own = { ...window, name, ...(title !== "" && { comment: title }) }
    if (this.#fits(title, { windows: [own] })) this.#parts.windows.push(own)
  }

  page(name: string, page: Taken & { readonly title: string }): void {
    if (this.#fits(page.title, { pages: { [name]: page } })) this.#parts.pages[name] = page
  }

  /** The policy with its comments, the variables of its secrets, or why no policy can state it. `all` are those there. */
  finish(all: number, noun: string): Result.Result<MovedText, string> {
    const parts = Object.fromEntries(
      Object.entries(this.#parts).filter(([, part]) => Object.keys(part).length > 0),
    )
    const runs = [...this.#runs]
    const text = yamlOf(parts)
    const comments = [
      ...runs.map((one) => `# run: ${one}\n`),
      ...this.#notes.map((one) => `# not taken over: ${one}\n`),
    ].join("")
    return Result.mapBoth(readPolicy(parts, []), {
      onSuccess: () => ({
        policy: comments + text,
        run: runs,
        not_taken_over: this.#notes,
        summary: `${this.#parts.watches.length + this.#parts.freshness.length} of ${all} ${noun} taken over; lines "not taken over": ${this.#notes.length}\n`,
        secrets: [...this.#values]
          .filter(([name]) => text.includes(`"${name}"`))
          .map(([name, value]) => `${name}=${shellText(value)}\n`)
          .join(""),
      }),
      onFailure: ([problem]) =>
        `no policy can state all of it: ${problem && `${fieldPath(problem.path)} ${problem.message}`}; remove it there, and import the rest`,
    })
  }
}

interface MovedJob {
  readonly title: string
  readonly integration: string
  readonly kind: "push" | "ping"
  readonly check: string
}

/** Of an import: the policy, what it lacks, and the values of its variables. */
export interface MovedText {
  readonly policy: string
  readonly run: ReadonlyArray<string>
  readonly not_taken_over: ReadonlyArray<string>
  /** How many were taken over, and how many parts were not. */
  readonly summary: string
  readonly secrets: string
}

/** The matchers of one check. */
export const matchOf = (check: string, agent = WATCHES): ReadonlyArray<string> => [
  `agent_id = ${agent}`,
  `check_id = ${check}`,
]

/** An entry of a part in each line, so that no line begins with a foreign word. */
const yamlOf = (parts: Readonly<Record<string, object>>): string =>
  Object.entries(parts)
    .map(([name, part]) => {
      const entries = Array.isArray(part)
        ? part.map((one: unknown) => `  - ${JSON.stringify(one)}\n`)
        : Object.entries(part).map(([key, one]: [string, unknown]) => `  ${key}: ${JSON.stringify(one)}\n`)
      return `${name}:\n${entries.join("")}`
    })
    .join("") || "{}\n"

const shellText = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`
