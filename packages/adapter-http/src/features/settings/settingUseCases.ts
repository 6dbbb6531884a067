import { SharedSettings } from "@tocsin/core/features/settings/SharedSettings"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const settingUseCases = (services: Context.Context<SharedSettings>) => {
  const { listSettings, putSetting, removeSetting } = Context.get(services, SharedSettings)
  return {
    listSettings: () => listSettings,
    putSetting: ({ params, payload }) => putSetting(params.name, payload.value),
    removeSetting: ({ params }) => removeSetting(params.name),
  } satisfies OpsUseCases<"settings">
}
