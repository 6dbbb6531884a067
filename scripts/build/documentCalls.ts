import { opsTags } from "../../packages/adapter-http/src/features.ts"
import { v1Tags } from "../../packages/adapter-http/src/documents/v1Operations.ts"

const texts = new Map(
  [...v1Tags, ...opsTags].flatMap(([, , operations]) =>
    Object.entries(operations).map(([endpoint, { description }]) => [endpoint, description] as const),
  ),
)

/** A call in the declaration of the table of calls, without a comment of its own. */
const CALL = /^([ \t]+)(?=(?:readonly )?\w+: import\("[^"]+"\)\.Call<"(\w+)")/gm

const commentOf = (indent: string, text: string): string =>
  [
    `${indent}/**`,
    ...(text.match(/\S.{0,100}(?!\S)/g) ?? []).map((line) => `${indent} * ${line}`),
    `${indent} */\n`,
  ].join("\n")

/** Documents each call with the text that the OpenAPI documents have of its endpoint: editors show both alike. */
export const documentCalls = (declaration: string): string =>
  declaration.replaceAll(CALL, (_, indent: string, endpoint: string) => {
    const text = texts.get(endpoint)
    if (text === undefined) throw new Error(`the OpenAPI documents say nothing about ${endpoint}`)
    return `${commentOf(indent, text)}${indent}`
  })
