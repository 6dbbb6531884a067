import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ActionCountResponse } from "../Responses.ts"
import * as rotas from "../Rotas.ts"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

/** Rotas of the policy in force, and their overrides (docs/rules.md#on-call). */
export class RotasApi extends HttpApiGroup.make("rotas")
  .add(
    role.read.get("listRotas", "/rotas", { success: rotas.RotaList }),
    role.read.get("getRota", "/rotas/:name", {
      params: rotas.RotaPath,
      query: rotas.RotaParameters,
      success: rotas.RotaPlan,
      error: NotFound.wire,
    }),
    role.read.get("listOverrides", "/rotas/:name/overrides", {
      params: rotas.RotaPath,
      query: rotas.OverrideListParameters,
      success: rotas.OverrideList,
      error: NotFound.wire,
    }),
    role.respond.delete("endOverride", "/rotas/:name/overrides/:id", {
      params: rotas.OverridePath,
      success: ActionCountResponse,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.respond.post("createOverride", "/rotas/:name/overrides", {
      params: rotas.RotaPath,
      payload: rotas.OverrideRequest,
      success: rotas.Override.pipe(HttpApiSchema.status(201)),
      error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
