/** The style sheet of the pages: light and dark by the setting of the system, one column that fits a phone, contrast of at least 4.5 to 1. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f3f4f6; --sheet: #fff; --ink: #16202c; --soft: #4b5866; --line: #78838f; --strong: #14508c; --on-strong: #fff;
  --alert: #8f1d1d; --alert-ground: #fdecec }
@media (prefers-color-scheme: dark) { :root { --ground: #10151b; --sheet: #1a2129; --ink: #eef2f6; --soft: #b4bfca; --line: #7d8994; --strong: #8cc2f7;
  --on-strong: #0b1a29; --alert: #ffb4b4; --alert-ground: #3a1717 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 26rem; padding: 1.75rem; border-radius: 12px; background: var(--sheet); box-shadow: 0 1px 4px rgb(0 0 0 / .18);
  overflow-wrap: anywhere }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1rem }
.brand { margin: 0 0 .5rem; font-weight: 600; letter-spacing: .02em; color: var(--soft) }
.note { color: var(--soft); font-size: .9rem }
.alert { padding: .75rem 1rem; border-radius: 8px; background: var(--alert-ground); color: var(--alert) }
.code { font: 600 1.75rem/1.4 ui-monospace, monospace; letter-spacing: .08em }
label { display: block; margin: 0 0 1rem; font-weight: 600 }
input:not([type=hidden]) { display: block; width: 100%; margin-top: .35rem; padding: .7rem .8rem; border: 1px solid var(--line); border-radius: 8px;
  background: var(--sheet); color: var(--ink); font: inherit }
ul { margin: 0 0 1.25rem; padding-left: 1.25rem } li { margin: .35rem 0 }
button { display: block; width: 100%; min-height: 2.9rem; margin-top: .75rem; padding: .6rem 1rem; border: 1px solid var(--strong); border-radius: 8px;
  background: var(--strong); color: var(--on-strong); font: inherit; font-weight: 600; cursor: pointer }
button.quiet { background: transparent; color: var(--strong) }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px }
a { color: var(--strong) }
`.trimStart();
