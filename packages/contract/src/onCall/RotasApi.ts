import { HttpApiSchema } from "effect/http-api"
import { ActionCountResponse } from "../v1/Responses.ts"
import * as rotas from "./Rotas.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

const rota = { params: rotas.RotaPath, error: NotFound.wire }

/** Rotas of the policy in force, and their overrides (docs/rules.md#on-call). */
export class RotasApi extends operatorsGroup(
  "rotas",
  role.read.get("listRotas", "/rotas", { success: rotas.RotaList }),
  role.read.get("getRota", "/rotas/:name", {
    ...rota,
    query: rotas.RotaParameters,
    success: rotas.RotaPlan,
  }),
  role.read.get("listOverrides", "/rotas/:name/overrides", {
    ...rota,
    query: rotas.OverrideListParameters,
    success: rotas.OverrideList,
  }),
  role.respond.delete("endOverride", "/rotas/:name/overrides/:id", {
    params: rotas.OverridePath,
    success: ActionCountResponse,
  }),
  role.respond.post("createOverride", "/rotas/:name/overrides", {
    ...rota,
    payload: rotas.OverrideRequest,
    success: rotas.Override.pipe(HttpApiSchema.status(201)),
    error: [NotFound.wire, Conflict.wire],
  }),
) {}
