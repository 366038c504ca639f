/** The page on which people allow a client what it asks for. No I/O. */
import { hidden, html, page } from './layout.ts';

/** What the page shows. */
export interface ConsentPage {
  readonly clientName: string;
  readonly accountName: string;
  readonly csrf: string;
  /** What the client will be able to do. */
  readonly permissions: readonly string[];
  /** The host or application to which the browser returns; none for a device. */
  readonly destination: string | undefined;
}

/** Returns the page. Its form is sent to the page's own address. */
export function consentPage({ clientName, accountName, csrf, permissions, destination }: ConsentPage): string {
  const items = permissions.map((permission) => html`<li>${permission}</li>`);
  const note = destination === undefined ? 'You go on at your device.' : `You return to ${destination}.`;
  return page(
    'Allow access?',
    html`<p><strong>${clientName}</strong> asks for access to the account of <strong>${accountName}</strong>. It will be able to:</p>
      <ul>
        ${items}
      </ul>
      <p class="note">It never sees your password. ${note}</p>
      <form method="post">
        ${hidden('csrf', csrf)}
        <button name="action" value="approve">Allow</button>
        <button class="quiet" name="action" value="deny">Deny</button>
      </form>`,
  );
}
