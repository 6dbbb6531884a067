/// <reference lib="es2024.string" />
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { isSecretLikeLabelKey } from "@tocsin/contract/labels/isSecretLikeLabelKey"
import { type Labels, MAX_LABELS } from "@tocsin/contract/labels/Labels"
import { hashedId, OUTSIDE, type TranslationContext } from "./Report.ts"

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

/** An alert's labels, and what follows from them. */
export interface DerivedCheck {
  /** Its labels without empty ones, which count as absent. */
  readonly texts: Texts
  readonly check_id: CheckId
  readonly labels: Labels
}

/** Derives the check of an alert, or says what its labels lack. */
export const deriveCheck = (
  labels: Readonly<Record<string, unknown>>,
  link: string,
  { options, sha256 }: TranslationContext,
): DerivedCheck | "no_texts" | "no_label" => {
  const given = Object.entries(labels)
  if (!given.every((label): label is [string, string] => typeof label[1] === "string")) return "no_texts"
  const texts = Object.fromEntries(given.filter(([, text]) => text !== ""))
  const present = Object.keys(texts).toSorted()
  if (present.length === 0) return "no_label"
  return {
    texts,
    check_id: alertId(texts, present, sha256),
    labels: checkLabels(texts, link, present, options),
  }
}
