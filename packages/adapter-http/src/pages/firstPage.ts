import * as Instant from "@tocsin/contract/Instant"
import { Duration } from "effect"
import { html, Html } from "./html.ts"
import { deliveryOf, isStorageWell, type ServiceState, statusOf } from "./ServiceState.ts"
import { stylesheet } from "./stylesheet.ts"

/** The sign of the service: a bell (a tocsin is the bell that sounds an alarm). */
const bell =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b3261e"/>' +
  '<path fill="#fff" d="M16 5.2a1.7 1.7 0 0 0-1.7 1.7v.6a6.9 6.9 0 0 0-5.2 6.7v4.1c0 1.2-.5 2.3-1.3 3.2l-.6.6c-.6.6-.2 1.7.7 1.7h16.2c.9 0 1.3-1.1.7-1.7l-.6-.6a4.6 4.6 0 0 1-1.3-3.2v-4.1a6.9 6.9 0 0 0-5.2-6.7v-.6A1.7 1.7 0 0 0 16 5.2zM13.4 25a2.7 2.7 0 0 0 5.2 0z"/></svg>'

/** The bell as an icon that needs no request. */
const bellAddress = `data:image/svg+xml,${encodeURIComponent(bell)}`

const STATUS = {
  ok: "Up and working",
  unwell: "Running, but needs attention",
  not_ready: "Not ready: the storage is unreachable or refuses writes",
  stopping: "Shutting down",
} as const

const DELIVERY = {
  in_time: "delivering on time",
  late: "late: at least one has waited for more than 15 minutes",
  given_up: "one failed within the last hour",
  unknown: "unknown while the storage does not answer",
} as const

const LINKS: ReadonlyArray<readonly [path: string, name: string, what: string]> = [
  ["docs", "API reference", "every request and response, with a console to try them"],
  ["openapi.json", "OpenAPI document", "the v1 API; ops/v1/openapi.json describes the operator additions"],
  ["metrics", "Metrics", "for Prometheus; requires a token unless SERVICE_METRICS_TOKEN is open"],
  ["api/v1/ready", "Readiness", "for probes: 200 when ready, 503 otherwise"],
]

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const

/** The two largest units of a time: 3 days 4 hours. */
const spanText = (span: Duration.Duration): string => {
  let left = Math.floor(Duration.toSeconds(span))
  const parts = UNITS.flatMap(([name, seconds]) => {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    return count === 0 ? [] : [`${count} ${name}${count === 1 ? "" : "s"}`]
  })
  return parts.length === 0 ? "less than a second" : parts.slice(0, 2).join(" ")
}

/** To the minute, as people write it. */
const minuteText = (instant: Instant.Instant): string =>
  `${Instant.format(instant).slice(0, "2026-01-01T00:00".length).replace("T", " ")} UTC`

interface Row {
  readonly name: string
  readonly text: string
  readonly isBad?: boolean
}

const rowsOf = (state: ServiceState): ReadonlyArray<Row> => {
  const isKept = isStorageWell(state)
  const delivery = deliveryOf(state)
  return [
    {
      name: "Storage",
      text: `${state.storage}: ${isKept ? "reads and writes" : "does not answer, or refuses writes"}`,
      isBad: !isKept,
    },
    { name: "Notifications", text: DELIVERY[delivery], isBad: delivery !== "in_time" },
    { name: "Running for", text: `${spanText(state.upFor)}, since ${minuteText(state.startedAt)}` },
    { name: "Version", text: state.version },
  ]
}

const row = ({ name, text, isBad = false }: Row): Html =>
  html`<dt>${name}</dt><dd${new Html(isBad ? ' class="bad"' : "")}>${text}</dd>`

const link = ([path, name, what]: (typeof LINKS)[number]): Html =>
  html`<li><a href="${path}">${name}</a><span>${what}</span></li>`

// Unescaped: the policy names the style by its hash.
const style = new Html(`<style>${stylesheet}</style>`)
const sign = new Html(bell.replace("<svg", '<svg aria-hidden="true" width="48" height="48"'))

/**
 * The first page for people: the service, its state and its documentation. No script, nothing
 * external.
 */
export const firstPage = (state: ServiceState): string => {
  const status = statusOf(state)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Tocsin: ${STATUS[status]}</title>
        <link rel="icon" href="${bellAddress}" />
        ${style}
      </head>
      <body>
        <main>
          <header>
            ${sign}
            <div>
              <h1>Tocsin</h1>
              <p>Monitoring: heartbeats and check results in, incidents and notifications out.</p>
            </div>
          </header>
          <p class="state${status === "ok" ? "" : " bad"}">${STATUS[status]}</p>
          <dl>${rowsOf(state).map(row)}</dl>
          <h2>Documentation</h2>
          <ul>
            ${LINKS.map(link)}
          </ul>
        </main>
      </body>
    </html> `.text
}
