import { ReceiverTests } from "@tocsin/core/features/receivers/ReceiverTests"
import { toNotifierTest } from "@tocsin/core/heart/notifications/Notifiers"
import { FollowedPolicy } from "@tocsin/core/lists/FollowedPolicy"
import { StoredSecrets } from "@tocsin/core/lists/StoredSecrets"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Context, Effect } from "effect"
import { counted, example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

const SECRETS = {
  name: "phone",
  keys: ["token", "url"],
  changed_by: "ann",
  changed_at: "2026-03-01T08:30:00.000Z",
  receiver: "phone",
  unreadable: false,
}
const parameters = { name: SECRETS.name }

const operations: Operations = {
  listSecrets: {
    summary: "List stored secrets",
    description:
      "Lists the stored secrets of receivers by name, without their values. Those that no receiver of the policy names are unused. The list has no pages.",
    success: { one: ["Those of one receiver", { items: [SECRETS] }] },
  },
  putSecrets: {
    summary: "Store the secrets of a receiver",
    description:
      "Stores all secrets of one receiver, encrypted, in place of the former ones; they count on every server within 5 s. A policy names them by `secrets: NAME`. No answer, log or audit row has a value. Answers 409 where the server has no SERVICE_SECRETS_KEY, and if stored secrets would be more than 1,000, or more than 4 MiB together, encrypted.",
    parameters,
    request: example("usual", "A topic of ntfy", {
      values: { url: "https://ntfy.example.org/ops", token: "tk_1" },
    }),
    success: { stored: ["They are stored", SECRETS] },
  },
  removeSecrets: {
    summary: "Delete stored secrets",
    description:
      "Deletes the stored secrets of one name. Answers 409 while a receiver of the policy names them. Safe to repeat.",
    parameters,
    ...counted("They are deleted", 1),
  },
}

const tests: Operations = {
  testNotifier: {
    summary: "Send a test message now and report the receiver's answer",
    description: "Sends a test message immediately and reports the receiver's answer. Tocsin stores neither.",
    parameters: { notifier: "webhook" },
    success: {
      delivered: ["The receiver took it", { outcome: "delivered", status: 204, error: null }],
      refused: [
        "The receiver refused it",
        { outcome: "refused", status: 404, error: "the receiver answered 404" },
      ],
    },
  },
}

const receiverUseCases = (services: Context.Context<FollowedPolicy | ReceiverTests | StoredSecrets>) => {
  const { follow } = Context.get(services, FollowedPolicy)
  const secrets = Context.get(services, StoredSecrets)
  const { testNotifier } = Context.get(services, ReceiverTests)
  // The policy may be that of another operator. A process that cannot follow now tries again within seconds.
  const following = Effect.provideService(Effect.ignore(follow), CurrentOperator, systemOperator)
  return {
    testNotifier: ({ params }) => Effect.map(testNotifier(params.notifier), toNotifierTest),
    listSecrets: () => secrets.list,
    putSecrets: ({ params, payload }) => Effect.tap(secrets.put(params.name, payload), () => following),
    removeSecrets: ({ params }) => Effect.andThen(following, secrets.remove(params.name)),
  } satisfies OpsUseCases<"receivers">
}

export const receivers = {
  tags: [
    ["Secrets", "Addresses and tokens of receivers, which are never shown.", operations],
    ["Notifications", undefined, tests],
  ],
  useCases: { group: "receivers", make: receiverUseCases },
} satisfies HttpPart
