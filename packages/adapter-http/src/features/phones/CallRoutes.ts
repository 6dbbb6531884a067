import * as Instant from "@tocsin/contract/formats/Instant"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import { fill } from "@tocsin/contract/languages/Words"
import type { FollowedLink } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { nameOf, spokenName, spokenText, type Spoken, twiml } from "@tocsin/core/features/phones/callText"
import { type Reader, readerTexts } from "@tocsin/core/heart/notifications/readerTexts"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Links } from "@tocsin/core/features/links/Links"
import { Duration, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../../request/authentication.ts"
import { readEnd } from "../../request/RequestBody.ts"
import { errorFields, failureOfCause } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"

const PATH = "/a/:token/call"

export const routes: ReadonlyArray<KnownRoute> = [{ method: "POST", path: PATH }]

/** The reader of a link's message. */
const readerOf = (link: FollowedLink): Reader => (link.outcome === "ended" ? link : link.notification)

/** Says what a key did, or would do; says the call once more where one may still press 1. */
const spokenLink = (link: FollowedLink, now: Instant.Instant): Spoken => {
  const { length, words } = readerTexts(readerOf(link), "spoken")
  const { call, link: linked } = words
  if (link.outcome === "ended") return { text: call.ends[link.reason] }
  const { acknowledgement, notification, outcome, severity } = link
  if (outcome === "open") return { text: spokenText([notification]), action: "" }
  if (outcome === "worse")
    return { text: fill(call.worse, { status: words.notification.statuses[severity] }) }
  if (link.isNew === true) return { text: fill(call.done, { length: length(Duration.toSeconds(link.for)) }) }
  const { by = "", until = now } = acknowledgement ?? {}
  const left = length(Instant.secondsBetween(now, until))
  return { text: fill(call.before, { name: nameOf(by, linked), length: left }) }
}

/** Why a key did not acknowledge one of several incidents, which is named. */
const spokenReason = (link: FollowedLink, now: Instant.Instant): string => {
  const { text } = spokenLink(link, now)
  if (link.outcome === "ended") return text
  const { labelled } = readerTexts(link.notification).words.notification
  return fill(labelled, { name: spokenName(link.notification), value: text })
}

/** Says of a call about several incidents how many a key acknowledged, and why not the others. */
const spokenCall = (links: ReadonlyArray<FollowedLink>, now: Instant.Instant): Spoken => {
  const [only, ...others] = links
  if (only === undefined || others.length === 0) return only ? spokenLink(only, now) : { text: UNKNOWN }
  const open = links.flatMap((link) => (link.outcome === "open" ? [link.notification] : []))
  if (open.length > 0) return { text: spokenText(open), action: "", count: open.length }
  const isDone = (link: FollowedLink) => link.outcome === "acknowledged" && link.isNew === true
  const rest = links.filter((link) => !isDone(link)).map((link) => spokenReason(link, now))
  const done = links.find(isDone)
  const { length, words } = readerTexts(readerOf(only), "spoken")
  const counts = { done: links.length - rest.length, count: links.length }
  const text =
    done?.outcome === "acknowledged"
      ? fill(words.call.some_for, { ...counts, length: length(Duration.toSeconds(done.for)) })
      : fill(words.call.some, counts)
  return { text: [text, ...new Set(rest)].join(" ") }
}

const UNKNOWN = "This call is not known."
const FAILED = "Tocsin cannot answer now. Nothing is known to have changed. Open the console."

const said = (spoken: Spoken, status = 200, fields: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(twiml(spoken), { status, contentType: "text/xml; charset=utf-8", headers: fields })

/** Acknowledges by a key that one presses in a call, as the button of its link does (docs/rules.md#phones). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { followCall } = yield* Links
    const { noteToken } = yield* FailedAuthentications
    const { current } = yield* PolicyInForce
    const follow = Effect.fnUntraced(function* (token: string) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const look = { token, requestId: yield* RequestId, isPressed: false }
      // Bodies for unknown tokens stay unread; each costs as much as a failed authentication.
      const links = yield* Effect.tapErrorTag(followCall(look), "NotFound", () => noteToken)
      if (links.every(({ outcome }) => outcome !== "open")) return links
      const { text } = yield* Effect.catch(readEnd(request), () => Effect.succeed({ text: "" }))
      const form = new URLSearchParams(text)
      return form.get("Digits") === "1" ? yield* followCall({ ...look, isPressed: true }) : links
    })
    const answer = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const [, , token = ""] = pathOf(url).split("/")
      const links = yield* follow(token)
      const [receiver = ""] = links.flatMap(
        (link) => (link.outcome === "ended" ? link : link.notification).receiver ?? [],
      )
      const definition = current().receivers.get(receiver)?.definition
      const language = definition?.kind === "messenger" ? definition.language : undefined
      const { lang } = links[0] ? readerOf(links[0]) : {}
      return said({ ...spokenCall(links, yield* Instant.now), lang, language })
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.map(failureOfCause(cause), (failure) => {
          const text = failure.code === "not_found" ? UNKNOWN : FAILED
          return said({ text }, errorStatus[failure.code], errorFields(failure))
        }),
      ),
    )
    yield* router.add("POST", PATH, answer)
  }),
)
