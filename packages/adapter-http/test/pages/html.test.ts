import { assert, it } from "@effect/vitest"
import { html, Html } from "../../src/pages/html.ts"

it("escapes whatever is put into a template, once, unless it is HTML", () => {
  const text = `<script>&"'`
  assert.strictEqual(
    html`<p title="${text}">${text}</p>`.text,
    `<p title="&lt;script&gt;&amp;&quot;&#39;">&lt;script&gt;&amp;&quot;&#39;</p>`,
  )
  assert.strictEqual(
    html`${html`<b>${"&"}</b>`}${[new Html("<i>"), html`${"<"}`]}`.text,
    "<b>&amp;</b><i>&lt;",
  )
})
