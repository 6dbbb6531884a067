/// <reference lib="es2024.string" />
import type { CheckId } from "@tocsin/contract/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import { isSecretLikeLabelKey } from "@tocsin/contract/isSecretLikeLabelKey"
import { type Labels, MAX_LABELS } from "@tocsin/contract/Labels"
import { hashedId, OUTSIDE, type Report, type TranslationContext } from "./Report.ts"

export type Texts = Readonly<Record<string, string>>

const FIRST_LABELS = ["alertname", "severity", "instance", "job", "team", "runbook_url"]
const LONGEST_NAME = 64
const LONGEST_VALUE = 256
// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /[\u0000-\u001f]/gu

export const plainText = (text: string): string => text.toWellFormed().replace(CONTROLS, " ")

const cleanValue = (text: string): string => {
  const plain = plainText(text)
  return plain.length <= LONGEST_VALUE ? plain : Array.from(plain).slice(0, LONGEST_VALUE).join("")
}

const isLink = (text: string): boolean => text.length <= LONGEST_VALUE && /^https?:\/\/\S+$/u.test(text)

/** The labels of a check: cleaned, and the most important where there are too many. They never refuse an alert. */
export const checkLabels = (
  labels: Texts,
  link: string,
  names: ReadonlyArray<string>,
  { group_by = [] }: IntegrationOptions,
): Labels => {
  const given: Texts = isLink(link) ? { runbook_url: link, ...labels } : labels
  const cleaned = new Map<string, string>()
  const first = [...FIRST_LABELS, ...group_by].filter((name) => Object.hasOwn(given, name))
  for (const name of new Set([...first, ...names])) {
    const key = name.toWellFormed().replace(OUTSIDE, "_").slice(0, LONGEST_NAME)
    if (cleaned.size === MAX_LABELS) break
    if (key !== "" && !cleaned.has(key) && !isSecretLikeLabelKey(key))
      cleaned.set(key, cleanValue(given[name] ?? ""))
  }
  return Object.fromEntries(cleaned)
}

/** The ID of an alert's check: its identity is the whole label set. */
const alertId = (labels: Texts, names: ReadonlyArray<string>, sha256: (text: string) => string): CheckId => {
  const set = names.map((name) => [name, labels[name]])
  return hashedId(labels["alertname"] ?? "alert", sha256(JSON.stringify(set)))
}

/** An alert as its sender repeats it, and what follows from its labels. */
export interface KnownAlert {
  /** Its labels as given; the order of their names is that of the sender. */
  readonly given: Texts
  readonly names: ReadonlyArray<string>
  readonly link: string
  readonly group_by: IntegrationOptions["group_by"]
  /** Its labels without empty ones, which count as absent. */
  readonly texts: Texts
  readonly check_id: CheckId
  /** The labels of its check. */
  readonly labels: Labels
  /** The report that it was last, and all that this follows from beside its labels. */
  last: LastReport | undefined
}

export interface LastReport extends Pick<TranslationContext, "name" | "options"> {
  readonly isFiring: boolean
  readonly source: string
  readonly address: string | undefined
  readonly lease_millis: number | undefined
  readonly text: string
  readonly report: Report
}

/** Senders repeat their alerts, and deriving these takes ten times as long as parsing the request. */
const CHARACTERS_KEPT = 8_000_000

/** The older of two generations is dropped whole, so that alerts that come in turn stay. */
let young = new Map<number, KnownAlert>()
let old = new Map<number, KnownAlert>()
let characters = 0

const countKept = (more: number): void => {
  characters += more
  if (characters <= CHARACTERS_KEPT) return
  old = young
  young = new Map()
  characters = more
}

const keep = (hash: number, known: KnownAlert): KnownAlert => {
  const { given, last, names } = known
  countKept(
    names.reduce((sum, name) => sum + name.length + (given[name]?.length ?? 0), last?.text.length ?? 0),
  )
  young.set(hash, known)
  return known
}

export const keepReport = (known: KnownAlert, last: LastReport): void => {
  countKept(last.text.length)
  known.last = last
}

// FNV-1a over UTF-16: a hash of a text in one piece would first have to build that text.
const mix = (hash: number, text: string): number => {
  let mixed = Math.imul(hash ^ text.length, 0x01_00_01_93)
  for (let index = 0; index < text.length; index += 1)
    mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x01_00_01_93)
  return mixed
}

const isSameGrouping = (some: KnownAlert["group_by"] = [], others: KnownAlert["group_by"] = []): boolean =>
  some === others || (some.length === others.length && some.every((name, index) => name === others[index]))

/**
 * Derives the check of an alert, or says what its labels lack. Alerts of one hash take each other's
 * place, so that nothing is gained by finding some.
 */
export const deriveCheck = (
  labels: Readonly<Record<string, unknown>>,
  link: string,
  { options, sha256 }: TranslationContext,
): KnownAlert | "no_texts" | "no_label" => {
  const { group_by } = options
  const names = Object.keys(labels)
  let hash = group_by === undefined ? 0 : group_by.reduce(mix, 0)
  for (const name of names) {
    const text = labels[name]
    if (typeof text !== "string") return "no_texts"
    hash = mix(hash, text)
  }
  const isSame = (known: KnownAlert | undefined): known is KnownAlert =>
    known !== undefined &&
    known.link === link &&
    known.names.length === names.length &&
    names.every((name, index) => name === known.names[index] && labels[name] === known.given[name]) &&
    isSameGrouping(known.group_by, group_by)
  const known = young.get(hash)
  if (isSame(known)) return known
  const before = old.get(hash)
  if (isSame(before)) return keep(hash, before)
  // Each value is a text, as was just seen.
  const given = labels as Texts
  const hasEmpty = names.some((name) => given[name] === "")
  const texts = hasEmpty ? Object.fromEntries(Object.entries(given).filter(([, text]) => text !== "")) : given
  const present = Object.keys(texts).toSorted()
  if (present.length === 0) return "no_label"
  return keep(hash, {
    given,
    names,
    link,
    group_by,
    texts,
    check_id: alertId(texts, present, sha256),
    labels: checkLabels(texts, link, present, options),
    last: undefined,
  })
}
