/** The page on which people enter the code of their second factor. No I/O. */
import { alert, hidden, html, page } from './layout.ts';

/** What the page shows. */
export interface CodePage {
  readonly csrf: string;
  readonly email: string;
  /** Identifies the login that the code completes. */
  readonly challenge: string | undefined;
  /** What was wrong. */
  readonly fault?: string | undefined;
}

/** Returns the page. Its form is sent to the page's own address. */
export function codePage({ csrf, email, challenge = '', fault }: CodePage): string {
  return page(
    'Enter your code',
    html`<p>Enter the code that your authenticator app shows, or one of your recovery codes.</p>
      ${alert(fault)}
      <form method="post">
        ${hidden('csrf', csrf)} ${hidden('email', email)} ${hidden('challenge', challenge)}
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
      </form>`,
  );
}
