import { Schema } from "effect"
import { closedStruct } from "../formats/Fields.ts"
import { body, credential } from "./WatchProbe.ts"

const secretPlace = Schema.Union([
  closedStruct({
    env: Schema.String.check(
      Schema.isPattern(/^TOCSIN_SECRET_\w{1,200}$/u, {
        expected: "a variable that begins with TOCSIN_SECRET_",
      }),
    ),
  }),
  closedStruct({
    file: Schema.String.check(
      Schema.isPattern(/^(?!\.{1,2}$)[^/\\\0]{1,255}$/u, {
        expected: "the name of a file in SERVICE_SECRETS_DIR, without a folder",
      }),
    ),
  }),
]).annotate({
  identifier: "SecretPlace",
  description: "A variable, or a file of SERVICE_SECRETS_DIR, that has the secret.",
  expected: "{ env: TOCSIN_SECRET_… } or { file: NAME }",
})

const textOrPlace = Schema.Union([credential, secretPlace]).annotate({
  expected: "a text, { env: TOCSIN_SECRET_… } or { file: NAME }",
})

/** Header fields as a policy has them. */
export const placedHeaders = Schema.optionalKey(Schema.Record(Schema.String, textOrPlace))

/** The secrets of a page as a policy has them. */
export const policySecrets = {
  headers: placedHeaders,
  auth: Schema.optionalKey(
    Schema.Struct({
      bearer: Schema.optionalKey(secretPlace),
      basic: Schema.optionalKey(Schema.Struct({ user: textOrPlace, password: secretPlace })),
    }),
  ),
  body,
}
