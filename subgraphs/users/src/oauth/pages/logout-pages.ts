/** The pages of the logout (OpenID Connect RP-Initiated Logout 1.0). No I/O. */
import { hidden, html, page } from './layout.ts';

/** Returns the page that asks whether to log out. */
export function logoutPage({ action, xsrf }: { readonly action: string; readonly xsrf: string }): string {
  return page(
    'Log out?',
    html`<p>You stay logged in at other devices. Applications keep the access that you gave them.</p>
      <form method="post" action="${action}">
        ${hidden('xsrf', xsrf)}
        <button name="logout" value="yes">Log out</button>
        <button class="quiet">Stay logged in</button>
      </form>`,
  );
}

/** Returns the page after the logout. */
export function loggedOutPage(): string {
  return page('Done', html`<p>You can close this page.</p>`);
}

/** Returns a page with one button, for a form that the library would send by a script. */
export function continuePage(form: { readonly action: string; readonly fields: ReadonlyMap<string, string> }): string {
  const fields = [...form.fields].map(([name, value]) => hidden(name, value));
  return page(
    'Continue',
    html`<form method="post" action="${form.action}">
      ${fields}
      <button>Continue</button>
    </form>`,
  );
}
