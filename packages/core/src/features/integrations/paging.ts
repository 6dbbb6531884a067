import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { Predicate } from "effect"
import { readJsonBody, resultOf } from "./alerts.ts"
import { checkLabels, type Texts } from "./deriveCheck.ts"
import { JSON_TEXT, OF_MANY_CHECKS } from "./Kind.ts"
import {
  type Act,
  type Answer,
  checkIdOf,
  hashedId,
  invalid,
  type Reading,
  type TranslationContext,
} from "./Report.ts"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"

/** Both kinds of paging services: their senders try again later where they shall, and give up on 409. */
export const PAGING = { ...OF_MANY_CHECKS, isRefusedForNow: true, keepsExpected: true } as const

export const PAGING_OPTIONS = ["acknowledged_for", "forget_after", "lapse_after"] as const

export const PAGING_PROTOCOL = { ...JSON_TEXT, contentType: "application/json" } as const

const HEARTBEAT = "heartbeat:"

/** The check of a heartbeat. No alert has its ID. */
export const heartbeatId = (name: string, sha256: TranslationContext["sha256"]): CheckId =>
  checkIdOf(`${HEARTBEAT}${name}`, sha256)

/** The check of an alert by its sender's name for it. */
export const alertIdOf = (name: string, sha256: TranslationContext["sha256"]): CheckId =>
  name.startsWith(HEARTBEAT) ? hashedId(name, sha256(name)) : checkIdOf(name, sha256)

/** The name of an alert whose sender gives none: the same for a request that is sent again. */
export const madeName = (
  parts: ReadonlyArray<string | undefined>,
  sha256: TranslationContext["sha256"],
): string => sha256(JSON.stringify(parts)).slice(0, 32)

/** Details are shown as JSON, and writing thousands of levels would overflow the stack. */
const MOST_DEPTH = 32

const isDeeper = (value: unknown, most: number): boolean =>
  Predicate.isObjectOrArray(value) &&
  (most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1)))

/** The JSON of a body, whose values have few levels. */
export const readShallowJson = (body: string): ReturnType<typeof readJsonBody> => {
  const read = readJsonBody(body)
  return "json" in read && isDeeper(read.json, MOST_DEPTH)
    ? invalid(`the request body must have at most ${MOST_DEPTH} levels`)
    : read
}

/** A value of JSON as text; empty for none. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

/** The fields of an object as texts, without empty ones; none for another value. */
export const textsIn = (given: unknown): Texts =>
  Predicate.isObject(given)
    ? Object.fromEntries(
        Object.entries(given)
          .map(([name, value]) => [name, textOf(value)] as const)
          .filter(([, text]) => text !== ""),
      )
    : {}

/** Texts in the order of their names. */
export const byName = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** An alert as a sender states it. */
export interface Stated {
  readonly check_id: CheckId
  readonly status: "ok" | "warning" | "critical" | "unknown"
  /** Its lines; empty ones are left out. */
  readonly lines: ReadonlyArray<string>
  /** The labels of its check in the order of their weight; absent where a request does not state them. */
  readonly labels?: Texts
  /** The page of its runbook; empty without one. */
  readonly link?: string
}

const NOT_REPEATED = { by: "source", source: "", lease_millis: undefined } as const

/** Reads a request that states whether an alert fires. Nothing is expected of it. */
export const readStated = (
  { check_id, labels, lines, link = "", status }: Stated,
  options: IntegrationOptions,
  answer: Answer,
): Reading => {
  const text = lines.filter((line) => line !== "").join("\n")
  const given = labels && checkLabels(labels, link, Object.keys(labels), options)
  return { reports: [resultOf(check_id, status, text, NOT_REPEATED, given)], refusals: [], heard: [], answer }
}

export const readAct = (act: Act | undefined, answer: Answer): Reading => ({
  reports: [],
  refusals: [],
  heard: [],
  answer,
  ...(act !== undefined && { act }),
})
