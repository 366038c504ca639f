/** The page on which people log in. No I/O. */
import { alert, hidden, html, page } from './layout.ts';

/** What the page shows. */
export interface LoginPage {
  readonly clientName: string;
  readonly csrf: string;
  /** The address that was entered before. */
  readonly email?: string | undefined;
  /** What was wrong. */
  readonly fault?: string | undefined;
}

/** Returns the page. Its form is sent to the page's own address. */
export function loginPage({ clientName, csrf, email = '', fault }: LoginPage): string {
  return page(
    'Log in',
    html`<p><strong>${clientName}</strong> asks you to log in.</p>
      ${alert(fault)}
      <form method="post">
        ${hidden('csrf', csrf)}
        <label>E-mail address <input name="email" type="email" autocomplete="username" required maxlength="320" value="${email}" /></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="1024" /></label>
        <button name="action" value="login">Log in</button>
        <button class="quiet" name="action" value="deny" formnovalidate>Cancel</button>
      </form>
      <p class="note"><a href="/password-reset">Forgot your password?</a></p>`,
  );
}
