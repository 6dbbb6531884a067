import { HttpApiSchema } from "effect/http-api"
import { ActionCountResponse, pageOf } from "../v1/Responses.ts"
import {
  Silence,
  SilenceChangeRequest,
  SilenceCreationParameters,
  SilenceListParameters,
  SilencePath,
  SilencePreview,
  SilenceRequest,
} from "./Silences.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

const silence = { params: SilencePath, success: Silence }

/** Silences (docs/rules.md#silences). */
export class SilencesApi extends operatorsGroup(
  "silences",
  role.read.get("listSilences", "/silences", {
    query: SilenceListParameters,
    success: pageOf(Silence, "SilencePage"),
  }),
  role.read.get("getSilence", "/silences/:id", { ...silence, error: NotFound.wire }),
  role.respond.post("createSilence", "/silences", {
    query: SilenceCreationParameters,
    payload: SilenceRequest,
    success: [Silence.pipe(HttpApiSchema.status(201)), SilencePreview],
    error: Conflict.wire,
  }),
  role.respond.patch("changeSilence", "/silences/:id", {
    ...silence,
    payload: SilenceChangeRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.respond.delete("expireSilence", "/silences/:id", { ...silence, success: ActionCountResponse }),
) {}
