/** The sign of the service: a bell (a tocsin is the bell that sounds an alarm). */
export const bell =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b3261e"/>' +
  '<path fill="#fff" d="M16 5.2a1.7 1.7 0 0 0-1.7 1.7v.6a6.9 6.9 0 0 0-5.2 6.7v4.1c0 1.2-.5 2.3-1.3 3.2l-.6.6c-.6.6-.2 1.7.7 1.7h16.2c.9 0 1.3-1.1.7-1.7l-.6-.6a4.6 4.6 0 0 1-1.3-3.2v-4.1a6.9 6.9 0 0 0-5.2-6.7v-.6A1.7 1.7 0 0 0 16 5.2zM13.4 25a2.7 2.7 0 0 0 5.2 0z"/></svg>'

/** The same as an icon that needs no request. */
export const bellAddress = `data:image/svg+xml,${encodeURIComponent(bell)}`
