import type { Role } from "../Role.ts"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** The role that an operation requires: every operation of operators has this annotation. */
export class RequiredRole extends Context.Service<RequiredRole, Role>()(
  "@tocsin/adapter-http/api/RequiredRole",
) {}

/** What the OpenAPI document says of an operation, under one of its tags. */
export const operation = (tag: string, summary: string, description: string) =>
  OpenApi.annotations({ summary, description, override: { tags: [tag] } })

/** The same for an operation of operators, with the role that it requires. */
export const operationFor = (role: Role, tag: string, summary: string, description: string) =>
  Context.add(operation(tag, summary, description), RequiredRole, role)
