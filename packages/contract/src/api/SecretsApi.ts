import { HttpApiGroup } from "effect/http-api"
import { PutSecretsRequest, SecretsPath, StoredSecrets, StoredSecretsList } from "../ReceiverSecrets.ts"
import { ActionCountResponse } from "../Responses.ts"
import { Conflict, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

const secrets = { params: SecretsPath } as const

/** Stored secrets of receivers (docs/rules.md#stored-secrets). */
export class SecretsApi extends HttpApiGroup.make("secrets")
  .add(
    role.admin.get("listSecrets", "/secrets", { success: StoredSecretsList }),
    role.admin.delete("removeSecrets", "/secrets/:name", {
      ...secrets,
      success: ActionCountResponse,
      error: Conflict.wire,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.admin.put("putSecrets", "/secrets/:name", {
      ...secrets,
      payload: PutSecretsRequest,
      success: StoredSecrets,
      error: [Validation.wire, PayloadTooLarge.wire, Conflict.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
