/** The result of work that stops now and then. */
export const atOnce = <A>(work: Generator<void, A>): A => {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}
