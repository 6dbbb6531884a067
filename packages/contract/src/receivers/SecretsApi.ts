import { PutSecretsRequest, SecretsPath, StoredSecrets, StoredSecretsList } from "./ReceiverSecrets.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

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
