import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Policies } from "@tocsin/core/lists/Policies"
import { Context, Effect } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const secretUseCases = (services: Context.Context<Policies>) => {
  const { follow, secrets } = Context.get(services, Policies)
  // The policy may be that of another operator. A process that cannot follow now tries again within seconds.
  const following = Effect.provideService(Effect.ignore(follow), CurrentOperator, systemOperator)
  return {
    listSecrets: () => secrets.list,
    putSecrets: ({ params, payload }) => Effect.tap(secrets.put(params.name, payload), () => following),
    removeSecrets: ({ params }) => Effect.andThen(following, secrets.remove(params.name)),
  } satisfies OpsUseCases<"secrets">
}
