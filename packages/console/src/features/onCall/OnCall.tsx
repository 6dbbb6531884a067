import type { Override, RotaList, RotaPlan } from "@tocsin/client"
import { momentText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { topicsOf } from "../../state/lists.ts"
import { route } from "../../state/location.ts"
import { linkTo } from "../../state/Route.ts"
import { endOverride, namesText, rotaPath, turnsOf } from "./rotaActions.ts"
import { base } from "../../state/base.ts"
import { call, mayRespond } from "../../state/session.ts"
import { CopyText } from "../../view/copies.tsx"
import { ActionButton } from "../../view/forms.tsx"
import { Empty, Mark, Missing, ReadingNote } from "../../view/states.tsx"
import { useRead, useResource } from "../../view/usePages.ts"
import { PolicyFormButton } from "../../view/PolicyFormButton.tsx"
import { TakeOver } from "./TakeOver.tsx"
import { Names, Turns } from "./Turns.tsx"

const FORTNIGHT = 1_209_600_000

const timeText = (at: string): string => momentText(Date.parse(at), now.peek())

const untilText = (until: string | null): string =>
  until === null ? "for more than 93 days" : `until ${timeText(until)}`

const Rotas = ({ chosen, items }: RotaList & { readonly chosen: string | undefined }) => (
  <ul class="plain" aria-label="Rotas">
    {items.map(({ name, next, now: present }) => (
      <li class="row rota" key={name}>
        <a class="main" href={linkTo("on-call", [], { rota: name })} aria-current={name === chosen}>
          {name}
        </a>
        <span class="notes">
          <Names {...present} /> {untilText(present.until)}
        </span>
        {next !== null && (
          <span class="notes">
            then <Names {...next} /> {untilText(next.until)}
          </span>
        )}
        <PolicyFormButton form="rota" label="Change" describes={`Change ${name}`} path={["rotas", name]} />
      </li>
    ))}
  </ul>
)

const OverrideRow = ({ override }: { readonly override: Override }) => {
  const { created_by, from, missing, note, receivers, state, to } = override
  return (
    <li class="row override">
      {missing.length === 0 ? <Mark state={state} /> : <Mark state="failed" word="lost" />}
      <b>{namesText(receivers)}</b>
      <span class="subject">
        {timeText(from)} – {timeText(to)}
        {missing.length > 0 && `, does not count: the policy has no ${namesText(missing)}`}
        {note !== null && `, ${note}`}, by {created_by}
      </span>
      {mayRespond.value && (
        <ActionButton kind="danger" describes="End it now" does={() => endOverride(override)}>
          End
        </ActionButton>
      )}
    </li>
  )
}

const Plan = ({ name }: { readonly name: string }) => {
  const reading = useResource(`rota ${name}`, topicsOf("ops/v1/rotas"), () => {
    const to = new Date(now.peek() + FORTNIGHT).toISOString()
    return call<RotaPlan>("GET", rotaPath(name), { query: { to } })
  })
  const { value: plan } = reading
  if (plan === undefined) return <ReadingNote reading={reading} />
  return (
    <>
      <ReadingNote reading={reading} />
      <h2>{name}: the next two weeks</h2>
      <Turns label={`Turns of ${name}`} turns={turnsOf(plan)} />
      {plan.overrides.length > 0 && <h2>Overrides</h2>}
      <ul class="plain" aria-label="Overrides">
        {plan.overrides.map((override) => (
          <OverrideRow key={override.id} override={override} />
        ))}
      </ul>
      {plan.calendar !== undefined && (
        <>
          <h2>Calendar</h2>
          <p class="lead">Subscribe to this address. All who have it can read who is on call.</p>
          {/* Programs name a calendar by its file. Without a public address of the service, it is below that of this page. */}
          <CopyText
            text={new URL(plan.calendar.replace(/^\//, "").replace(/\.ics$/, `/${name}.ics`), base).href}
          />
        </>
      )}
    </>
  )
}

const NoRota = () => (
  <Empty title="No rota yet">
    A rota of the policy names who is on call. Routes name it like a receiver.{" "}
    <a href={`${base}console/on-call.md`}>How to write one</a>
  </Empty>
)

export const OnCall = () => {
  const reading = useRead<RotaList>("ops/v1/rotas")
  const { new: isNew, rota: wanted } = route.value.parameters
  const { items = [] } = reading.value ?? {}
  const { name } = items.find((rota) => rota.name === wanted || wanted === undefined) ?? {}
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value?.items.length === 0 && <NoRota />}
      {items.length > 0 && <Rotas items={items} chosen={name} />}
      {reading.value !== undefined && (
        <p class="after">
          <PolicyFormButton form="rota" label="Add a rota" />
        </p>
      )}
      {items.length > 0 && name === undefined && (
        <Missing what="rota" name={wanted} others={linkTo("on-call")} />
      )}
      {name !== undefined && (
        <>
          {mayRespond.value && isNew === "yes" && <TakeOver key={name} rota={name} />}
          {mayRespond.value && isNew !== "yes" && (
            <p class="after">
              <a class="button" href={linkTo("on-call", [], { rota: name, new: "yes" })}>
                Take over {name}
              </a>
            </p>
          )}
          <Plan key={`plan ${name}`} name={name} />
        </>
      )}
    </>
  )
}
