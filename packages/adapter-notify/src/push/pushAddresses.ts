const SERVICE_HOST =
  /^(?:\*\.)?(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/u

/** Whether a text names a push service: a host, `*.DOMAIN`, or an origin, in lower case. */
export const isPushService = (given: string): boolean => {
  if (!given.includes("://")) return SERVICE_HOST.test(given)
  const url = URL.parse(given)
  return (
    url !== null && /^https?:$/u.test(url.protocol) && (given === url.origin || given === `${url.origin}/`)
  )
}

/** Whether push services take a text as whom to write to. */
export const isPushContact = (given: string): boolean => {
  const url = URL.parse(given)
  const isMail = /^mailto:[^\s@,?]+@[^\s@,?]+$/u.test(given)
  return isMail || (url?.protocol === "https:" && url.hostname !== "")
}

/** Whom push services may write to: a stated contact, or the address of this server if that is of TLS. */
export const contactOf = (contact: string | undefined, publicUrl: string | undefined): string | undefined =>
  contact ?? (publicUrl?.startsWith("https:") === true ? publicUrl : undefined)
