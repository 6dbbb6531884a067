import { assert, describe, it } from "@effect/vitest"
import { HttpRouter } from "effect/http"
import * as DocumentRoutes from "../../src/documents/DocumentRoutes.ts"

describe("a document", () => {
  it("is made once, however many clients hang up meanwhile", async () => {
    let made = 0
    let hangUp = new AbortController()
    const document = {
      ...DocumentRoutes.v1,
      make: () => {
        made += 1
        hangUp.abort()
        return { made }
      },
    }
    const { handler, dispose } = HttpRouter.toWebHandler(DocumentRoutes.layer([document]), {
      disableLogger: true,
    })
    const ask = () => handler(new Request(`http://host${document.path}`, { signal: hangUp.signal }))
    for (let n = 0; n < 3; n++) {
      hangUp = new AbortController()
      // An answer without a reader does not matter.
      await ask().catch(() => undefined)
    }
    hangUp = new AbortController()
    const answer = await ask()
    assert.deepStrictEqual(await answer.json(), { made: 1 })
    await dispose()
  })
})
