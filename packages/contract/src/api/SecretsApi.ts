import {
  PutSecretsRequest,
  SecretsPath,
  StoredSecrets,
  StoredSecretsList,
} from "../receivers/ReceiverSecrets.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict } from "./ApiErrors.ts"
import { operatorsGroup, role } from "./operation.ts"

const secrets = { params: SecretsPath, error: Conflict.wire }

/** Stored secrets of receivers (docs/rules.md#stored-secrets). */
export class SecretsApi extends operatorsGroup(
  "secrets",
  role.admin.get("listSecrets", "/secrets", { success: StoredSecretsList }),
  role.admin.delete("removeSecrets", "/secrets/:name", { ...secrets, success: ActionCountResponse }),
  role.admin.put("putSecrets", "/secrets/:name", {
    ...secrets,
    payload: PutSecretsRequest,
    success: StoredSecrets,
  }),
) {}
