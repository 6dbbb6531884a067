import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Push } from "@tocsin/core/features/push/Push"
import { Policies } from "@tocsin/core/lists/Policies"
import { Context, Effect } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const pushUseCases = (services: Context.Context<Policies | Push>) => {
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
