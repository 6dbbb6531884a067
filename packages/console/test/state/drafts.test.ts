import { assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import type { Me } from "@tocsin/client"
import { forgetDrafts, useBegan, useDraft } from "../../src/state/drafts.ts"
import { followStorage, me, signOut, token } from "../../src/state/session.ts"
import { useFormTexts } from "../../src/view/useFormTexts.ts"

// Each call draws a form anew.
vi.mock("preact/hooks", () => ({
  useMemo: (make: () => unknown) => make(),
  useRef: (current: unknown) => ({ current }),
}))
vi.mock("../../src/state/location.ts", () => ({
  route: { peek: () => ({ page: "incidents", subject: ["1"] }) },
}))

const note = () => useDraft("", "note", "")
const entered = (name: string, given: string): void => {
  token.value = given
  me.value = { name, role: "admin" } as Me
}
const edited = (initial: Readonly<Record<string, string>>) =>
  useFormTexts(
    "web",
    Object.fromEntries(Object.entries(initial).map(([name, text]) => [name, { label: name, initial: text }])),
  )

beforeEach(() => {
  followStorage({ key: "tocsin.token" })
})

describe("texts that wait", () => {
  it("are their writer's, also before the server has said who that is", () => {
    token.value = "of-ann"
    note().value = "half"
    entered("ann", "of-ann")
    assert.strictEqual(note().peek(), "half")
    me.value = undefined
    assert.strictEqual(note().peek(), "half")
    // Loaded again, this tab has the token that another one keeps.
    token.value = "of-bob"
    assert.strictEqual(note().peek(), "")
    entered("bob", "of-bob")
    assert.strictEqual(note().peek(), "")
    signOut("Your token is no longer valid. Sign in again.")
    entered("ann", "anew")
    assert.strictEqual(note().peek(), "half")
  })

  it("leave with a sign-out in another tab", () => {
    entered("ann", "of-ann")
    note().value = "half"
    followStorage({ key: "tocsin.token" })
    entered("ann", "of-ann")
    assert.strictEqual(note().peek(), "")
  })

  it("keep what they began with, until they are forgotten", () => {
    entered("ann", "of-ann")
    assert.strictEqual(useBegan("window", "first").peek(), "first")
    assert.strictEqual(useBegan("window", "second").peek(), "second")
    useDraft("window", "for", "2h").value = "3h"
    assert.strictEqual(useBegan("window", "third").peek(), "second")
    forgetDrafts("window")
    assert.strictEqual(useBegan("window", "third").peek(), "third")
  })

  it("say what others changed of the same fields, and leave with fields that are gone", () => {
    entered("ann", "of-ann")
    const form = edited({ every: "1m", title: "Web" })
    form.texts.value = { every: "5m", title: "Web" }
    assert.strictEqual(edited({ every: "1m", title: "Shop" }).changed, "")
    const again = edited({ every: "10s", title: "Shop" })
    assert.deepStrictEqual(again.texts.peek(), { every: "5m", title: "Shop" })
    assert.strictEqual(again.changed, "every is 10s")
    assert.strictEqual(edited({ every: "10s", title: "Shop" }).changed, "every is 10s")
    again.empty()
    assert.strictEqual(edited({ every: "10s", title: "Shop" }).changed, "")
    edited({ every: "10s" }).texts.value = { every: "7s" }
    assert.deepStrictEqual(edited({ to: "" }).texts.peek(), { to: "" })
  })
})
