/** The link of a row to the page of its item. Of equal titles, the ID that tells them apart is cut last. */
export const mainLink = (address: string, text: string, id?: string) => {
  const end = `(${id})`
  return (
    <a class="main" href={address}>
      {text.endsWith(` ${end}`) ? (
        <>
          <span>{text.slice(0, -end.length)}</span>
          <bdi>
            <span dir="ltr">{end}</span>
          </bdi>
        </>
      ) : (
        text
      )}
    </a>
  )
}

/** The output of an item, which leads to its page too; keys take the main link. */
export const saidLink = (address: string, text: string | undefined) => (
  <a class="subject" href={address} tabIndex={-1}>
    {text}
  </a>
)
