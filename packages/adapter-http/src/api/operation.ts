import { OpenApi } from "effect/http-api"

/** What the OpenAPI document says of an operation, under one of its tags. */
export const operation = (tag: string, summary: string, description: string) =>
  OpenApi.annotations({ summary, description, override: { tags: [tag] } })
