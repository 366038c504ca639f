/** The page on which people use their second factor: a code, or a passkey where the browser has JavaScript. No I/O. */
import { type Html, NOTHING, alert, hidden, html, page, script } from './layout.ts';

/** What the page shows. */
export interface CodePage {
  readonly csrf: string;
  readonly email: string;
  /** Identifies the login that the code completes. */
  readonly challenge: string | undefined;
  /** What the browser signs with a passkey, as JSON; undefined for an account without one. */
  readonly passkey?: object | undefined;
  /** What was wrong. */
  readonly fault?: string | undefined;
}

/**
 * The script of the page: shows the button, has the browser sign, and sends what it returns. It is static, so that its hash is the only one
 * that the policy of the page allows. Without it the form of the code is all that is seen.
 */
export const PASSKEY_SCRIPT = `(() => {
  const form = document.getElementById('passkey');
  const fault = document.getElementById('passkey-fault');
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return;
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fault.textContent = '';
    fault.hidden = true;
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(form.dataset.options));
      form.elements.passkey.value = JSON.stringify(await navigator.credentials.get({ publicKey }));
      form.submit();
    } catch {
      fault.textContent = 'The passkey was not used. Try again, or enter a code.';
      fault.hidden = false;
    }
  });
})();`;

/** Returns the page. Its forms are sent to the page's own address. */
export function codePage({ csrf, email, challenge = '', passkey, fault }: CodePage): string {
  const login = html`${hidden('csrf', csrf)} ${hidden('email', email)} ${hidden('challenge', challenge)}`;
  return page(
    'Enter your code',
    html`<p>Enter the code that your authenticator app shows, or one of your recovery codes.</p>
      ${alert(fault)}
      <form method="post">
        ${login}
        <label
          >Code
          <input
            name="code"
            type="text"
            required
            maxlength="32"
            autocomplete="one-time-code"
            autocapitalize="none"
            spellcheck="false"
            autofocus
        /></label>
        <button name="action" value="login">Continue</button>
        <button class="quiet" name="action" value="deny" formnovalidate>Cancel</button>
      </form>
      ${passkey === undefined ? NOTHING : passkeyForm(login, passkey)}`,
  );
}

function passkeyForm(login: Html, options: object): Html {
  return html`<form method="post" id="passkey" data-options="${JSON.stringify(options)}" hidden>
      ${login} ${hidden('action', 'login')} ${hidden('passkey', '')}
      <p class="alert" role="alert" id="passkey-fault" hidden></p>
      <button>Use a passkey</button>
    </form>
    ${script(PASSKEY_SCRIPT)}`;
}
