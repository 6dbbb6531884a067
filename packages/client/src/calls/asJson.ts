/**
 * A body as if it had come as JSON: a field that is undefined is absent, a Date is its ISO string.
 * What JSON cannot hold stays as it is.
 */
export const asJson = (body: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(body))
  } catch {
    return body
  }
}
