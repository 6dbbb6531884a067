import * as Instant from "@tocsin/contract/formats/Instant"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import type { EndOfLink, FollowedLink } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { spokenLength, spokenText, type Spoken, twiml } from "@tocsin/core/features/phones/callText"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Operations } from "@tocsin/core/lists/Operations"
import { Duration, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../../request/authentication.ts"
import { readEnd } from "../../request/RequestBody.ts"
import { errorFields, failureOfCause } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"

const PATH = "/a/:token/call"

export const routes: ReadonlyArray<KnownRoute> = [{ method: "POST", path: PATH }]

const ENDS: Readonly<Record<EndOfLink, string>> = {
  resolved: "The incident of this call has resolved.",
  removed: "Calls to this phone acknowledge nothing any more.",
  old: "This call is older than a week, so its key does nothing.",
}

/** Says what a key did, or would do; says the call once more where one may still press 1. */
const spokenLink = (link: FollowedLink, now: Instant.Instant): Spoken => {
  if (link.outcome === "ended") return { text: ENDS[link.reason] }
  const { acknowledgement, notification, outcome, severity } = link
  if (outcome === "open") return { text: spokenText([notification]), action: "" }
  if (outcome === "worse") {
    const text = `Nothing is acknowledged: the incident is ${severity} now, worse than this call said. Look at it in the console.`
    return { text }
  }
  if (link.isNew === true)
    return { text: `Acknowledged for ${spokenLength(Duration.toSeconds(link.for))}. Thank you.` }
  const { by = "", until = now } = acknowledgement ?? {}
  const who = by.replace(/^link:/, "a message to ")
  return {
    text: `It was acknowledged before, by ${who}, for another ${spokenLength(Instant.secondsBetween(now, until))}.`,
  }
}

/** Says of a call about several incidents how many a key acknowledged, and why not the others. */
const spokenCall = (links: ReadonlyArray<FollowedLink>, now: Instant.Instant): Spoken => {
  const [only, ...others] = links
  if (only === undefined || others.length === 0) return only ? spokenLink(only, now) : { text: UNKNOWN }
  const open = links.flatMap((link) => (link.outcome === "open" ? [link.notification] : []))
  if (open.length > 0) return { text: spokenText(open), action: "", count: open.length }
  const isDone = (link: FollowedLink) => link.outcome === "acknowledged" && link.isNew === true
  const rest = links.filter((link) => !isDone(link)).map((link) => spokenLink(link, now).text)
  const done = links.find(isDone)
  const length = done?.outcome === "acknowledged" ? ` for ${spokenLength(Duration.toSeconds(done.for))}` : ""
  const count = `Acknowledged ${links.length - rest.length} of ${links.length}${length}.`
  return { text: [count, ...new Set(rest)].join(" ") }
}

const UNKNOWN = "This call is not known."
const FAILED = "Tocsin cannot answer now. Nothing is known to have changed. Open the console."

const said = (spoken: Spoken, status = 200, fields: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(twiml(spoken), { status, contentType: "text/xml; charset=utf-8", headers: fields })

/** Acknowledges by a key that one presses in a call, as the button of its link does (docs/rules.md#phones). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { followCall } = yield* Operations
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
      const [receiver = ""] = links.flatMap((link) =>
        link.outcome === "ended" ? [] : [link.notification.receiver],
      )
      const definition = current().receivers.get(receiver)?.definition
      const language = definition?.kind === "messenger" ? definition.language : undefined
      return said({ ...spokenCall(links, yield* Instant.now), language })
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
