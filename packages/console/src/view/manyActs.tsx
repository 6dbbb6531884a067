import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { countText } from "../format/times.ts"
import { MOST_ARRANGED } from "../state/arranged.ts"
import { type List, readAll } from "../state/lists.ts"
import { onEach } from "../state/onEach.ts"
import { route } from "../state/location.ts"
import { itemsOf } from "../state/Pages.ts"
import { isSamePage } from "../state/isSamePage.ts"
import { mayRespond } from "../state/session.ts"
import { act, confirmed, type Message } from "../state/useAction.ts"
import { Dialog } from "./Dialog.tsx"
import type { FormField, Texts } from "./FormField.ts"
import { isRefusal, refusal } from "./formFault.ts"
import { ActionButton, Form, type FormAct } from "./forms.tsx"
import type { Column } from "./Listing.tsx"
import { select, selectedIds, SelectionBar, useSelecting } from "./selecting.tsx"
import type { Listed } from "./usePages.ts"

/** An act on each of the selected rows. */
export interface ManyAct<Item> {
  /** `Delete`, and what it did: `Deleted`. */
  readonly label: string
  readonly did: string
  readonly isOffered: ReadonlySignal<boolean>
  readonly isDanger?: boolean
  /** The end of its question: `for 8 h?` */
  readonly asks?: string
  /** A form that asks before the act. */
  readonly fields?: Readonly<Record<string, FormField>>
  /** Why these texts are none. */
  readonly faultIn?: (texts: Texts) => string | undefined
  readonly does: (item: Item, texts: Texts) => Promise<unknown>
}

interface Many<Item> {
  readonly noun: string
  readonly acts: ReadonlyArray<ManyAct<Item>>
  readonly list: List<Item>
  readonly listed: Listed<Item>
  readonly idOf: (item: Item) => string
  readonly nameOf: (item: Item) => string
}

/** The selected rows that the list has now, and how many it has no more. */
interface Chosen<Item> {
  readonly items: ReadonlyArray<Item>
  readonly missing: number
}

/** Of selected rows that are not in memory, the list tells whether it still has them: no act is on rows that left it. */
const chosenIn = async <Item,>({ idOf, list, listed }: Many<Item>): Promise<Chosen<Item>> => {
  const ids = selectedIds()
  const known = new Map(itemsOf(listed.pages).map((item) => [idOf(item), item]))
  if (!ids.every((id) => known.has(id)))
    for (const item of await readAll(list, { most: MOST_ARRANGED })) known.set(idOf(item), item)
  const items = ids.flatMap((id) => known.get(id) ?? [])
  return { items, missing: ids.length - items.length }
}

const missingText = (missing: number): string =>
  missing === 0
    ? ""
    : ` ${countText(missing, "selected row")} left this list, and ${missing === 1 ? "stays as it is" : "stay as they are"}.`

/** Those that are left stay selected, to be tried again; on another page, whose rows are others, nothing is. */
const carryOut = async <Item,>(
  { did, does }: ManyAct<Item>,
  { idOf, nameOf, noun }: Many<Item>,
  items: ReadonlyArray<Item>,
  texts: Texts = {},
): ReturnType<typeof onEach<Item>> => {
  const began = route.peek()
  const done = await onEach(items, { did, noun, nameOf, does: (item) => does(item, texts) })
  if (isSamePage(began, route.peek())) select(done.left.map(idOf))
  return done
}

const messageOf = ({ failure, text }: Awaited<ReturnType<typeof onEach>>): Message => {
  if (failure !== undefined) throw failure
  return { text }
}

interface Asked<Item> extends Chosen<Item> {
  readonly by: ManyAct<Item>
}

interface ManyFormProps<Item> {
  readonly asked: Signal<Asked<Item> | undefined>
  readonly many: Many<Item>
}

/** The form of an act. A refusal of its texts leaves it open, for those that are left. */
const ManyForm = <Item,>({ asked, many }: ManyFormProps<Item>) => {
  const form = asked.value
  if (form === undefined) return null
  const { by, items, missing } = form
  const close = (): void => void (asked.value = undefined)
  const title = `${by.label} ${countText(items.length, many.noun)}`
  const does: FormAct[1] = async (texts) => {
    const fault = by.faultIn?.(texts)
    if (fault !== undefined) throw refusal(fault)
    const done = await carryOut(by, many, items, texts)
    if (isRefusal(done.failure)) asked.value = { ...form, items: done.left }
    else close()
    return messageOf(done)
  }
  return (
    <Dialog name={title} onClose={close}>
      <Form
        title={title}
        fields={by.fields ?? {}}
        hasColumns
        acts={[[by.label, does, "main"]]}
        cancels={close}
      />
      {missing > 0 && <p class="lead">{missingText(missing)}</p>}
    </Dialog>
  )
}

/** The boxes of a list's rows, and above them what can be done with those selected: asked once, with their number. */
export const useMany = <Item,>(many: Many<Item>): readonly [boxes: Column<Item>, bar: VNode, form: VNode] => {
  const { acts, idOf, listed, nameOf, noun } = many
  const asked = useSignal<Asked<Item> | undefined>(undefined)
  const begin = async (by: ManyAct<Item>): Promise<Message | undefined> => {
    const chosen = await chosenIn(many)
    const { items, missing } = chosen
    if (items.length === 0) {
      select([])
      return { text: `Nothing done:${missingText(missing)}` }
    }
    if (by.fields !== undefined) {
      asked.value = { ...chosen, by }
      return undefined
    }
    const counted = `${by.label} ${countText(items.length, noun)}`
    const question = `${counted}${by.asks ?? "?"}${missingText(missing)}`
    if (!(await confirmed(question, counted, by.isDanger === true))) return undefined
    return messageOf(await carryOut(by, many, items))
  }
  const boxes = useSelecting({
    isOffered: mayRespond,
    lists: [listed],
    idOf,
    nameOf,
    does: (command, selected, focused) => {
      const by = acts.find(({ label }) => label.toLowerCase() === command)
      if (by?.isOffered.value !== true) return
      if (selected.length === 0 && focused !== undefined) select([focused])
      if (selectedIds().length > 0) void act(() => begin(by))
    },
  })
  const bar = (
    <SelectionBar isOffered={mayRespond}>
      {() =>
        acts
          .filter(({ isOffered }) => isOffered.value)
          .map((by) => (
            <ActionButton
              key={by.label}
              kind={by.isDanger === true ? "danger" : "quiet"}
              does={() => begin(by)}
            >
              {by.label}
            </ActionButton>
          ))
      }
    </SelectionBar>
  )
  return [boxes, bar, <ManyForm asked={asked} many={many} />]
}
