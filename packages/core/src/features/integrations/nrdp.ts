import { Predicate } from "effect"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import { readJsonBody } from "./alerts.ts"
import { attributeOf, readXml, type XmlElement } from "./readXml.ts"
import { type Kind, OF_MANY_CHECKS, type Protocol } from "./Kind.ts"
import { passiveResult, STATES } from "./nagios.ts"
import {
  invalid,
  NOT_FOUND,
  type Refusal,
  type Report,
  type SenderRequest,
  type Translate,
  type TranslationContext,
} from "./Report.ts"

const FIELDS = ["hostname", "servicename", "state", "output", "time"] as const

/** A result as its sender states it, all as text; empty where it states nothing. */
type Given = Readonly<Record<(typeof FIELDS)[number] | "type", string>>

const textIn = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : ""

const givenOf = (type: string, textOf: (field: string) => string): Given => {
  const [hostname = "", servicename = "", state = "", output = "", time = ""] = FIELDS.map(textOf)
  return { type, hostname, servicename, state, output, time }
}

const inXml = (element: XmlElement): Given =>
  givenOf(
    attributeOf(element, "type"),
    (field) => element.children.findLast(({ name }) => name === field)?.text.trim() ?? "",
  )

const inJson = (value: unknown): Given => {
  const fields = Predicate.isObject(value) ? value : {}
  const attributes = Predicate.isObject(fields["checkresult"]) ? fields["checkresult"] : {}
  return givenOf(textIn(attributes["type"]), (field) => textIn(fields[field]))
}

/** The data of a request: the last value of each name counts, and XML before JSON. */
const dataIn = (query: SenderRequest["query"]) => {
  const fields = new Map(query)
  const first = (...names: ReadonlyArray<string>) => names.map((name) => fields.get(name) ?? "").find(Boolean)
  return {
    command: (fields.get("cmd") ?? "").toLowerCase(),
    xml: first("xml", "xmldata", "XMLDATA"),
    json: first("json", "jsondata", "JSONDATA"),
  }
}

/** Whether a request has its data as JSON: its answer is JSON, too. */
const isJson = ({ query }: Pick<SenderRequest, "query">): boolean => {
  const { json, xml } = dataIn(query)
  return xml === undefined && json !== undefined
}

/** The text of an answer; `count` is how many results were taken. */
const answerText = (
  request: Pick<SenderRequest, "query">,
  [status, message]: readonly [number, string],
  count?: number,
): string => {
  const output = count === undefined ? undefined : `${count} checks processed`
  if (isJson(request)) {
    const meta = output === undefined ? {} : { meta: { output } }
    return JSON.stringify({ result: { status, message, ...meta } })
  }
  const meta = output === undefined ? [] : ["    <meta>", `        <output>${output}</output>`, "    </meta>"]
  // An element a line: some senders read it with grep.
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    "<result>",
    `    <status>${status}</status>`,
    `    <message>${escapeHtml(message)}</message>`,
    ...meta,
    "</result>\n",
  ].join("\n")
}

/** A form. Its senders read the status in the answer, and keep what has another HTTP status than 200, if they keep any. */
const protocol: Protocol = {
  methods: ["GET", "POST"],
  body: "form",
  hasHeader: false,
  keyOf: ({ query }) => query.findLast(([name]) => name === "token")?.[1],
  contentType: (request) => (isJson(request) ? "application/json" : "text/xml"),
  statuses: { not_found: 403 },
  say: (failure, _, request) =>
    answerText(request, failure === undefined ? [0, "OK"] : [-1, failure.message]),
}

const resultsIn = (query: SenderRequest["query"]): ReadonlyArray<Given> | Refusal => {
  const { command, json, xml } = dataIn(query)
  if (command !== "submitcheck") return invalid("the field cmd must be submitcheck")
  if (xml !== undefined) {
    const root = readXml(xml)
    if ("refused" in root) return root
    return root.children.filter(({ name }) => name === "checkresult").map(inXml)
  }
  if (json === undefined) return invalid("the request must have results in the field xml or json")
  const read = readJsonBody(json)
  if ("refused" in read) return invalid("the field json must be valid JSON")
  const results = Predicate.isObject(read.json) ? read.json["checkresults"] : undefined
  return Array.isArray(results) ? results.map(inJson) : invalid("the JSON must have a list checkresults")
}

/** A result as Nagios writes it: `\\n` is the end of a line. */
const reportOf = (given: Given, place: number, context: TranslationContext): Report | Refusal => {
  const { hostname: host, output, servicename, state, time, type } = given
  if (host === "") return invalid(`result ${place} must have a hostname`)
  const isHost = type === "host" || servicename === ""
  if (isHost && type === "service") return invalid(`result ${place} must have a servicename`)
  const stated = STATES.find((_, index) => String(index) === state)
  if (stated === undefined) return invalid(`result ${place} must have a state from 0 to 3`)
  const status = isHost && stated !== "ok" ? "critical" : stated
  const text = output.replaceAll("\\n", "\n")
  const service = isHost ? undefined : servicename
  return passiveResult({ host, service, status, text, seconds: Number(time) }, context)
}

const MOST_RESULTS = 10_000

const translate: Translate = ({ path, query }, context) => {
  if (path.some((segment) => segment !== "")) return NOT_FOUND
  const results = resultsIn(query)
  if ("refused" in results) return results
  if (results.length > MOST_RESULTS)
    return invalid(`the request must contain at most ${MOST_RESULTS} results`)
  const read = results.map((given, index) => reportOf(given, index + 1, context))
  const reports = read.filter((one): one is Report => !("refused" in one))
  const refusals = read.filter((one) => "refused" in one)
  const body = answerText({ query }, [0, "OK"], reports.length)
  return { reports, refusals, heard: [], answer: { status: 200, body } }
}

/** Passive results of Nagios by its Remote Data Processor, in XML or JSON (docs/rules.md#nagios). */
export const nrdp: Kind = {
  ...OF_MANY_CHECKS,
  protocol,
  translate,
  isRefusedForNow: true,
  options: [],
  paths: (key) => ["/", `/${key}/`],
}
