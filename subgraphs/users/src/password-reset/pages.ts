/** The pages of password resets: to ask for a link, and to set a new password with it. Plain HTML without scripts. No I/O. */
import { lengthOf } from '@trestle/schema/lengths';
import { alert, hidden, html, page } from '../oauth/pages/layout.ts';
import { LINK_MINUTES } from './token.ts';

const { min, max } = lengthOf('Mutation.resetPassword(password:)');

/** Returns the page on which people ask for a link. */
export function requestPage({ email = '', fault }: { readonly email?: string; readonly fault?: string | undefined }): string {
  return page(
    'Forgot your password?',
    html`<p>Enter the e-mail address of your account. You get a link to set a new password.</p>
      ${alert(fault)}
      <form method="post">
        <label>E-mail address <input name="email" type="email" autocomplete="username" required maxlength="254" value="${email}" /></label>
        <button>Send the link</button>
      </form>`,
  );
}

/** Returns the page that follows: the same whether there is an account or not. */
export function requestedPage(): string {
  return page(
    'Look into your mailbox',
    html`<p>If there is an account with this e-mail address, a link was sent to it. It is valid for ${String(LINK_MINUTES)} minutes.</p>`,
  );
}

/** Returns the page that a link leads to. */
export function newPasswordPage({ token, fault }: { readonly token: string; readonly fault?: string | undefined }): string {
  return page(
    'Set a new password',
    html`${alert(fault)}
      <form method="post">
        ${hidden('token', token)}
        <label
          >New password
          <input
            name="password"
            type="password"
            autocomplete="new-password"
            required
            minlength="${String(min)}"
            maxlength="${String(max)}"
            aria-describedby="rules"
        /></label>
        <p class="note" id="rules">
          At least ${String(min)} characters, and none of the common passwords. You will be logged out everywhere.
        </p>
        <button>Set the password</button>
      </form>`,
  );
}

/** Returns the page for a link that is not valid. */
export function invalidLinkPage(): string {
  return page(
    'This link does not work',
    html`<p>It is not complete, has expired or was used before.</p>
      <p><a href="/password-reset">Ask for a new link</a></p>`,
  );
}

/** Returns the page that says that the password was set. */
export function changedPage(): string {
  return page('Your password was set', html`<p>Log in with the new password. All other sessions have ended.</p>`);
}

/** Returns the page for a request that failed. */
export function failedPage(reason: string): string {
  return page('This did not work', html`<p class="alert" role="alert">${reason}</p>`);
}
