import { Admission } from "@tocsin/core/lists/Admission"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const enrolmentUseCases = (services: Context.Context<Admission>) => {
  const { enrolments } = Context.get(services, Admission)
  return {
    listEnrolments: ({ query }) => enrolments.list(query),
    createEnrolment: ({ payload }) => enrolments.create(payload),
    removeEnrolment: ({ params }) => enrolments.remove(params.id),
  } satisfies OpsUseCases<"enrolments">
}
