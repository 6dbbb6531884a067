import { Policies } from "@tocsin/core/lists/Policies"
import { Push } from "@tocsin/core/features/push/Push"
import { NO_CONTACT } from "@tocsin/core/features/push/PushService"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Context, Effect } from "effect"
import { counted, example, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../../request/authentication.ts"
import { errorResponse, failureOfCause } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"

const PATH = "/a/:token/shown"

const shownRoutes: ReadonlyArray<KnownRoute> = (["GET", "POST"] as const).map((method) => ({
  method,
  path: PATH,
}))

const NOT_ALLOWED = HttpServerResponse.text("A browser posts here once it has shown a notification.\n", {
  status: 405,
  headers: { allow: "POST", "cache-control": "no-store" },
})

/** Notes that a browser has shown a notification; its token acknowledges nothing (docs/rules.md#browsers). */
const shownLayer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { shown } = yield* Push
    const { noteToken } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const [, , token = ""] = pathOf(url).split("/")
      yield* Effect.tapErrorTag(shown(token), "NotFound", () => noteToken)
      return HttpServerResponse.empty({ status: 204 })
    }).pipe(Effect.catchCause((cause) => Effect.zipWith(failureOfCause(cause), RequestId, errorResponse)))
    yield* router.add("POST", PATH, answer)
    // Programs open addresses that they find.
    yield* router.add("GET", PATH, NOT_ALLOWED)
  }),
)

const KEY = "BGg1c2F4c1ZlcnlTZWNyZXRQb2ludE9mUDI1NkluNjVCeXRlc0FzQmFzZTY0dXJsLU5vdEFSZWFsT25lISE"

const BROWSER = {
  id: "5d2f1c9be07a4f3c8a16b4d2e9f00731",
  operator: "ann",
  name: "Firefox on Linux",
  service: "updates.push.services.mozilla.com",
  created_at: "2026-03-01T08:30:00.000Z",
  taken_at: "2026-03-01T09:15:00.000Z",
  shown_at: "2026-03-01T09:15:01.000Z",
  last_error: null,
}
const parameters = { id: BROWSER.id }

const operations: Operations = {
  getPush: {
    summary: "Show how browsers subscribe",
    description:
      "Shows the key by which a browser subscribes at its push service, and the receiver of the policy that names the caller. In place of the key, `problem` names the setting that is missing.",
    success: {
      ready: ["Browsers can subscribe", { public_key: KEY, receiver: "browser_ann" }],
      problem: ["A setting is missing", { problem: NO_CONTACT }],
    },
  },
  replacePushKey: {
    summary: "Replace the key of browsers",
    description:
      "Makes another key, and removes all browsers, because each is bound to its key: people press *Notify this browser* again. Answers 409 where a setting is missing.",
    success: { replaced: ["All browsers are removed", { public_key: KEY }] },
  },
  listSubscriptions: {
    summary: "List browsers that get notifications",
    description:
      "Lists the caller's browsers, the latest first; for an admin those of everybody. No answer has an address or a key of a browser.",
    ...lastPage(BROWSER),
  },
  createSubscription: {
    summary: "Notify a browser",
    description:
      "Stores what `PushSubscription.toJSON()` gives in a browser, for the caller. The same browser again keeps its row: 200. A browser of another operator leaves that operator. Answers 409 for a shared token, for a push service that is not known, where a setting is missing, and for the 21st browser of an operator.",
    request: example("usual", "A browser", {
      endpoint: "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk",
      expirationTime: null,
      keys: { p256dh: KEY, auth: "AAECAwQFBgcICQoLDA0ODw" },
    }),
    success: { stored: ["It gets notifications", { ...BROWSER, taken_at: null, shown_at: null }] },
  },
  removeSubscription: {
    summary: "Remove a browser",
    description:
      "Removes one of the caller's browsers; for an admin one of anybody's. It gets nothing any more.",
    parameters,
    ...counted("It is removed", 1),
  },
  testSubscription: {
    summary: "Send a test to a browser",
    description:
      "Sends a test to one of the caller's browsers; for an admin to one of anybody's. Answers what its push service said. `shown_at` of the browser says later that it has shown the test.",
    parameters,
    success: example("delivered", "Its push service took it", {
      outcome: "delivered",
      status: 201,
      error: null,
    }),
  },
}

const pushUseCases = (services: Context.Context<Policies | Push>) => {
  const push = Context.get(services, Push)
  const { lookForBrowsers } = Context.get(services, Policies)
  // The receiver of the policy is another operator's. What fails now is tried again within seconds.
  const look = Effect.provideService(Effect.ignore(lookForBrowsers), CurrentOperator, systemOperator)
  return {
    getPush: () => push.state,
    replacePushKey: () => Effect.tap(push.replaceKey, () => look),
    listSubscriptions: ({ query }) => push.list(query),
    createSubscription: ({ headers, payload }) =>
      Effect.tap(push.create(payload, headers["user-agent"]), () => look),
    removeSubscription: ({ params }) => Effect.tap(push.remove(params.id), () => look),
    testSubscription: ({ params }) => push.testOne(params.id),
  } satisfies OpsUseCases<"push">
}

export const push = {
  tags: [["Browsers", "Browsers that get notifications.", operations]],
  beside: { routes: shownRoutes, layer: shownLayer },
  useCases: { group: "push", make: pushUseCases },
} satisfies HttpPart
