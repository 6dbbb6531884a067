import type { Role } from "@tocsin/core/contract/Role"
import { Context } from "effect"

/** The role that an operation requires: every operation of operators has this annotation. */
export class RequiredRole extends Context.Service<RequiredRole, Role>()(
  "@tocsin/adapter-http/api/RequiredRole",
) {}
