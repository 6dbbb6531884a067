import { isUtf8 } from "node:buffer"
import { MAX_BODY_BYTES } from "@tocsin/adapter-http/request/RequestBody"
import type { OpenApi, Operation, Parameter } from "./OpenApi.ts"
import type { Generated } from "./requests.ts"
import { Schemas } from "./Schemas.ts"
import { READ_TOKEN, UI_TOKEN } from "./DocumentedServer.ts"

/** A text as a value of the type that a parameter's schema gives it, if it is written as such. */
const typed = ({ schema }: Parameter, text: string): unknown => {
  if (schema.type === "integer") return /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text
  if (schema.type === "boolean") return text === "true" || (text === "false" ? false : text)
  return text
}

/** Whether a body is a text of at most 1 MiB. */
const isText = (body: string | Uint8Array | undefined): boolean =>
  body !== undefined && body.length <= MAX_BODY_BYTES && (typeof body === "string" || isUtf8(body))

/** Whether an operation of operators states that it requires this role. */
const isOpenTo = (role: string, { security }: Operation): boolean =>
  security.some((requirement) => Object.values(requirement).some((roles) => roles.includes(role)))

/** Tells of requests whether they fit a document. */
export class RequestRules {
  readonly #schemas: Schemas

  constructor(document: OpenApi) {
    this.#schemas = new Schemas(document)
  }

  /** Whether its token allows a request. */
  isAllowed({ placed: { operation }, token }: Generated): boolean {
    if (operation.security.length === 0) return true
    if (operation.security.some((requirement) => "agentKey" in requirement)) {
      return token !== undefined && token !== UI_TOKEN && token !== READ_TOKEN
    }
    return token === UI_TOKEN || (token === READ_TOKEN && isOpenTo("read", operation))
  }

  /** Whether its parameters and its body fit. */
  fits({ placed: { operation }, path, query, json, body }: Generated): boolean {
    // Every request has the header fields that must be there.
    const parameters = operation.parameters.filter((parameter) => parameter.in !== "header")
    const parametersFit = parameters.every((parameter) => {
      const texts =
        parameter.in === "path"
          ? [path[parameter.name] ?? ""]
          : query.filter(([name]) => name === parameter.name).map(([, value]) => value)
      if (texts.length === 0) return !parameter.required
      return (
        texts.length === 1 &&
        texts.every((text) => text !== "" && this.#fit(parameter.schema, typed(parameter, text)))
      )
    })
    const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {})
    if (media === undefined) return parametersFit
    const bodyFits =
      type === "application/json" ? json !== undefined && this.#fit(media.schema, json) : isText(body)
    return parametersFit && bodyFits
  }

  #fit(schema: Parameter["schema"], value: unknown): boolean {
    return this.#schemas.problemsOf(schema, value).length === 0
  }
}
