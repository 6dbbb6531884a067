import { PutSettingRequest, Setting, SettingList, SettingPath } from "./Settings.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

const setting = { params: SettingPath, error: [NotFound.wire, Conflict.wire] } as const

/** Settings that change while servers run (docs/rules.md#stored-settings). */
export class SettingsApi extends operatorsGroup(
  "settings",
  role.read.get("listSettings", "/settings", { success: SettingList }),
  role.admin.put("putSetting", "/settings/:name", {
    ...setting,
    payload: PutSettingRequest,
    success: Setting,
  }),
  role.admin.delete("removeSetting", "/settings/:name", { ...setting, success: ActionCountResponse }),
) {}
