import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import { Links } from "@tocsin/core/features/links/Links"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import { FailedAuthentications } from "../../request/authentication.ts"
import { RequestId } from "../../response/headerFields.ts"
import { errorFields, type Failure, failureOfCause } from "../../response/failures.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"
import { createHash } from "node:crypto"
import { type Language, localeOf } from "@tocsin/contract/languages/Language"
import { fill } from "@tocsin/contract/languages/Words"
import type { FollowedLink } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { plain } from "@tocsin/core/heart/notifications/cutText"
import { nameOf } from "@tocsin/core/features/phones/callText"
import { acknowledgeText, incidentText } from "@tocsin/core/heart/notifications/incidentText"
import { readerTexts } from "@tocsin/core/heart/notifications/readerTexts"

interface Page {
  readonly status: number
  /** The language of its readers; English unless given. */
  readonly lang?: Language | undefined
  readonly title: string
  /** Its colour: a severity, or none. */
  readonly tone?: string
  /** The sentence that counts most: an output, or that it is acknowledged. */
  readonly lead?: string
  /** A sentence each. */
  readonly lines: ReadonlyArray<string>
  /** The label of its only button. */
  readonly button?: string
  /** The consequence of pressing it. */
  readonly note?: string
  /** The incident that the console shows, for those who have a token there. */
  readonly incident?: string
}

const STYLE = `:root{color-scheme:light dark;--ground:#f4f2ed;--card:#fffdf9;--ink:#1d2228;--line:#ddd8cd;--accent:#33291c;--on:#fffdf9;--critical:#b01d1d;--warning:#8a5300;--unknown:#63409b}
@media(prefers-color-scheme:dark){:root{--ground:#13161a;--card:#1b1f25;--ink:#e9e6df;--line:#30353d;--accent:#efe3cf;--on:#1b1408;--critical:#ff8f85;--warning:#f2bd5c;--unknown:#c3a8f2}}
body{margin:0;padding:1rem;background:var(--ground);color:var(--ink);font:1.0625rem/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:38rem;margin:1rem auto;padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-left:.375rem solid var(--line);border-radius:.5rem}
main.critical{border-left-color:var(--critical)}main.warning{border-left-color:var(--warning)}main.unknown{border-left-color:var(--unknown)}
h1{font-size:1.375rem;line-height:1.25;margin:0 0 .75rem}p{margin:0 0 .5rem}.lead{font-size:1.1875rem;line-height:1.35;font-weight:600}.note{font-size:.875rem;margin-top:.75rem}
button{font:inherit;font-weight:600;width:100%;min-height:3rem;margin-top:.75rem;border:1px solid transparent;border-radius:.5rem;background:var(--accent);color:var(--on)}a{color:inherit}.more{margin-top:1rem}`

const HASH = createHash("sha256").update(STYLE).digest("base64")

/** The header fields of the page: it runs nothing, loads nothing, stands in no frame and in no index. */
const LINK_FIELDS = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex, nofollow, noarchive",
} as const

const paragraph = (kind: string, text = ""): string =>
  text === "" ? "" : `<p class="${kind}">${escapeHtml(text)}</p>\n`

/** The page as HTML. Its form posts to its own address, whatever a proxy has put before the path. */
const linkPage = ({
  button,
  incident,
  lang = "en",
  lead,
  lines,
  note,
  title,
  tone = "",
}: Page): string => `<!doctype html>
<html lang="${localeOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Tocsin</title>
<style>${STYLE}</style>
</head>
<body>
<main class="${tone}">
<h1>${escapeHtml(title)}</h1>
${paragraph("lead", lead)}${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n")}
${button === undefined ? "" : `<form method="post"><button>${escapeHtml(button)}</button></form>`}
${paragraph("note", note)}${incident === undefined ? "" : `<p class="more"><a href="../#/incidents/${incident}">${readerTexts({ lang }).words.link.console}</a></p>`}
</main>
</body>
</html>
`

const UNKNOWN_LINK: Page = {
  status: 404,
  title: "This link is not known",
  lines: ["Check that the whole address was copied, or open the incident in the console."],
}

const endedPage = ({ lang, reason }: Extract<FollowedLink, { readonly outcome: "ended" }>): Page => {
  const { link: words } = readerTexts({ lang }).words
  return { status: 410, lang, title: words.ended, lines: [words.ends[reason], words.unchanged] }
}

const failedPage = (status: number): Page => ({
  status,
  title: "Tocsin cannot answer now",
  lines: ["Try again in a moment. Nothing is known to have changed."],
})

/** A link leads to the incident. */
const LINKED = { limit: Number.MAX_SAFE_INTEGER, escape: plain, hasLinks: true } as const

/** The page of a link in its state (docs/rules.md#links). */
const pageOf = (link: FollowedLink): Page => {
  if (link.outcome === "ended") return endedPage(link)
  const { acknowledgement, notification, outcome } = link
  const { time, words: all } = readerTexts(notification)
  const { link: words } = all
  const { statuses } = all.notification
  const incident = notification.incident.id
  // The page itself says who acknowledged it.
  const shownIn = { ...notification, acknowledgement: undefined, links: { incident, acknowledge: undefined } }
  const text = incidentText(shownIn, LINKED)
  const [title = "", said = "", ...facts] = text.split("\n")
  const who =
    acknowledgement &&
    fill(words.acknowledged, {
      name: acknowledgement.by,
      time: time(acknowledgement.until, "minute"),
      status: statuses[acknowledgement.severity],
    })
  const page = {
    status: 200,
    lang: notification.lang,
    title,
    tone: notification.severity,
    // That it is done comes before what it was about.
    lead: who ?? said,
    lines: who === undefined ? facts : [said, ...facts],
    incident,
  }
  switch (outcome) {
    case "open":
      return {
        ...page,
        note: fill(words.anyone, { actor: `link:${notification.receiver}` }),
        button: acknowledgeText(link.for, notification),
      }
    case "acknowledged":
      return page
    case "worse": {
      const now = fill(words.worse, { status: statuses[link.severity] })
      return { ...page, lead: now, lines: [page.lead, ...page.lines] }
    }
  }
}

const UNKNOWN = "This link is not known. Nothing is acknowledged."

/** The outcome of a link, for a program that asks for JSON, as the worker of a browser does (docs/rules.md#links). */
const reportOf = (link: FollowedLink) => {
  const { time, words: all } = readerTexts(link.outcome === "ended" ? link : link.notification)
  const { link: words } = all
  if (link.outcome === "ended")
    return { status: 410, outcome: "ended", text: fill(words.nothing, { ended: words.ends[link.reason] }) }
  const { acknowledgement, isNew, outcome } = link
  if (outcome !== "acknowledged" || acknowledgement === undefined)
    return { status: 409, outcome: "worse", text: words.worse_now }
  const until = time(acknowledgement.until, "minute")
  if (isNew === true) return { status: 200, outcome: "acknowledged", text: fill(words.done, { time: until }) }
  const name = nameOf(acknowledgement.by, words)
  return { status: 200, outcome: "already", text: fill(words.before, { name, time: until }) }
}

const UNKNOWN_REPORT = { status: 404, outcome: "unknown", text: UNKNOWN }

const reported = ({ status, ...report }: ReturnType<typeof reportOf>) =>
  HttpServerResponse.jsonUnsafe(report, { status, headers: { "cache-control": "no-store" } })

const wantsReport = (accept = ""): boolean =>
  /\bapplication\/json\b/iu.test(accept) && !/\btext\/html\b/iu.test(accept)

const PATH = "/a/:token"
const METHODS = ["GET", "POST"] as const

export const routes: ReadonlyArray<KnownRoute> = METHODS.map((method) => ({ method, path: PATH }))

const shown = (page: Page, fields: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(linkPage(page), {
    status: page.status,
    contentType: "text/html; charset=utf-8",
    headers: { ...LINK_FIELDS, ...fields },
  })

const pageOfFailure = (failure: Failure) =>
  failure.code === "not_found"
    ? shown(UNKNOWN_LINK)
    : shown(failedPage(errorStatus[failure.code]), errorFields(failure))

/** Shows the incident of a link, and acknowledges it by a POST (docs/rules.md#links). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { followLink } = yield* Links
    const { noteToken } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
      const [, , token = ""] = pathOf(url).split("/")
      const requestId = yield* RequestId
      const isPressed = method === "POST"
      const isReported = isPressed && wantsReport(headers["accept"])
      return yield* followLink({ token, isPressed, requestId }).pipe(
        // An unknown token costs as much as a failed authentication.
        Effect.tapErrorTag("NotFound", () => noteToken),
        Effect.map((link) => {
          if (isReported) return reported(reportOf(link))
          const page = pageOf(link)
          // Programs that press the button read the status alone.
          const isRefused = isPressed && link.outcome === "worse"
          return shown(isRefused ? { ...page, status: 409 } : page)
        }),
        Effect.catchCause((cause) =>
          Effect.map(failureOfCause(cause), (failure) =>
            isReported && failure.code === "not_found" ? reported(UNKNOWN_REPORT) : pageOfFailure(failure),
          ),
        ),
      )
    })
    for (const method of METHODS) yield* router.add(method, PATH, answer)
  }),
)
