import { Operations } from "@tocsin/core/lists/Operations"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const settingUseCases = (services: Context.Context<Operations>) => {
  const { listSettings, putSetting, removeSetting } = Context.get(services, Operations)
  return {
    listSettings: () => listSettings,
    putSetting: ({ params, payload }) => putSetting(params.name, payload.value),
    removeSetting: ({ params }) => removeSetting(params.name),
  } satisfies OpsUseCases<"settings">
}
