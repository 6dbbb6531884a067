/// <reference lib="es2024.string" />
import type { CheckId } from "@tocsin/contract/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import { isSecretLikeLabelKey } from "@tocsin/contract/isSecretLikeLabelKey"
import { type Labels, MAX_LABELS } from "@tocsin/contract/Labels"
import { hashedId, type TranslationContext } from "./Report.ts"

export type Texts = Readonly<Record<string, string>>

/** The parts of an alert that its check follows from. */
interface Alert {
  readonly labels: Texts
  readonly annotations: Texts
}

const FIRST_LABELS = ["alertname", "severity", "instance", "job", "team", "runbook_url"]
const LONGEST_NAME = 64
const LONGEST_VALUE = 256
const OUTSIDE_NAME = /[^A-Za-z0-9._:-]/gu
// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /[\u0000-\u001f]/gu

export const plainText = (text: string): string => text.toWellFormed().replace(CONTROLS, " ")

const cleanValue = (text: string): string => {
  const plain = plainText(text)
  return plain.length <= LONGEST_VALUE ? plain : Array.from(plain).slice(0, LONGEST_VALUE).join("")
}

const isLink = (text: string | undefined): text is string =>
  text !== undefined && text.length <= LONGEST_VALUE && /^https?:\/\/\S+$/u.test(text)

/** The labels of a check: cleaned, and the most important where there are too many. They never refuse an alert. */
const checkLabels = (
  { annotations, labels }: Alert,
  names: ReadonlyArray<string>,
  { group_by = [] }: IntegrationOptions,
): Labels => {
  const link = annotations["runbook_url"]
  const given: Texts = isLink(link) ? { runbook_url: link, ...labels } : labels
  const cleaned = new Map<string, string>()
  const first = [...FIRST_LABELS, ...group_by].filter((name) => Object.hasOwn(given, name))
  for (const name of new Set([...first, ...names])) {
    const key = name.toWellFormed().replace(OUTSIDE_NAME, "_").slice(0, LONGEST_NAME)
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

interface Derived {
  readonly check_id: CheckId
  readonly labels: Labels
}

/** Senders repeat their alerts, and deriving these takes ten times as long as parsing the request. */
const CHARACTERS_KEPT = 8_000_000

/** The older of two generations is dropped whole, so that alerts that come in turn stay. */
let young = new Map<string, Derived>()
let old = new Map<string, Derived>()
let characters = 0

const keep = (key: string, made: Derived): Derived => {
  characters += key.length
  if (characters > CHARACTERS_KEPT) {
    old = young
    young = new Map()
    characters = key.length
  }
  young.set(key, made)
  return made
}

export const deriveCheck = (alert: Alert, { options, sha256 }: TranslationContext): Derived => {
  // The order of labels is that of the sender, which repeats it.
  const key = JSON.stringify([options.group_by, alert.annotations["runbook_url"], alert.labels])
  const known = young.get(key)
  if (known !== undefined) return known
  const before = old.get(key)
  if (before !== undefined) return keep(key, before)
  const names = Object.keys(alert.labels).toSorted()
  return keep(key, {
    check_id: alertId(alert.labels, names, sha256),
    labels: checkLabels(alert, names, options),
  })
}
