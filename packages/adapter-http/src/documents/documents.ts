import { TocsinApi } from "../api.ts"
import { OpsApi } from "../api/OpsApi.ts"
import type { JsonObject } from "./Documentation.ts"
import { openApiDocument } from "./openApiDocument.ts"
import { opsDocumentation } from "./ops/opsDocumentation.ts"
import { v1Documentation } from "./v1/v1Documentation.ts"

/** The document of the frozen v1 contract: /openapi.json. */
export const v1Document = (): JsonObject => openApiDocument(TocsinApi, v1Documentation)

/** The document of what operators do beyond it: /ops/v1/openapi.json. */
export const opsDocument = (): JsonObject => openApiDocument(OpsApi, opsDocumentation)
