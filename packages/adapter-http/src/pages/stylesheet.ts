/**
 * The style of pages: system fonts, light or dark as the reader prefers; words repeat what colours
 * say.
 */
export const stylesheet = `
:root { color-scheme: light dark; --ink: #1b2330; --soft: #586273; --line: #dde2ea; --ground: #f6f7f9; --card: #ffffff;
  --link: #0b57c2; --good: #0f6b3a; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf2; --soft: #a0abbd; --line: #2c3442; --ground: #10141b;
  --card: #181e28; --link: #8ab8ff; --good: #6fd39a; --bad: #ff9a90; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 42rem; margin: 0 auto; padding: 3rem 1.25rem; }
header { display: flex; align-items: center; gap: .9rem; }
header svg { width: 3rem; height: 3rem; flex: none; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
p { margin: .15rem 0; color: var(--soft); }
.state { margin: 1.75rem 0 1rem; padding: .9rem 1.1rem; border: 1px solid var(--line); border-left: .35rem solid var(--good);
  border-radius: .6rem; background: var(--card); font-weight: 600; color: var(--good); }
.state.bad { border-left-color: var(--bad); color: var(--bad); }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .55rem 1.5rem; margin: 0; padding: 1.1rem;
  border: 1px solid var(--line); border-radius: .6rem; background: var(--card); }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
dd.bad { color: var(--bad); font-weight: 600; }
ul { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); }
li { padding: .7rem 1.1rem; }
li + li { border-top: 1px solid var(--line); }
li span { color: var(--soft); display: block; font-size: .925rem; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: .15rem; }
@media (max-width: 30rem) { main { padding: 1.75rem 1rem; } dl { grid-template-columns: 1fr; gap: 0; } dd + dt { margin-top: .6rem; } }
@media (forced-colors: active) { .state { border-left-width: .5rem; } }
`
