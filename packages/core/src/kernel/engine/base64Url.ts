import { Schema } from "effect"

/** Texts in base64url, as addresses have them. */
export const encodeBase64Url = Schema.encodeSync(Schema.StringFromBase64Url)
export const decodeBase64Url = Schema.decodeUnknownResult(Schema.StringFromBase64Url)
