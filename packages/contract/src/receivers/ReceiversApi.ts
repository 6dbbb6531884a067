import { PutSecretsRequest, SecretsPath, StoredSecrets, StoredSecretsList } from "./ReceiverSecrets.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"
import { NotifierPath, NotifierTest } from "../api/opsResources.ts"

const secrets = { params: SecretsPath, error: Conflict.wire }

/** Tests of receivers, and their stored secrets (docs/rules.md#stored-secrets). */
export class ReceiversApi extends operatorsGroup(
  "receivers",
  role.respond.post("testNotifier", "/notifiers/:notifier/test", {
    params: NotifierPath,
    success: NotifierTest,
    error: NotFound.wire,
  }),
  role.admin.get("listSecrets", "/secrets", { success: StoredSecretsList }),
  role.admin.delete("removeSecrets", "/secrets/:name", { ...secrets, success: ActionCountResponse }),
  role.admin.put("putSecrets", "/secrets/:name", {
    ...secrets,
    payload: PutSecretsRequest,
    success: StoredSecrets,
  }),
) {}
