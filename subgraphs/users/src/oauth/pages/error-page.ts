/** The page that says why a request failed. No I/O. */
import { html, page } from './layout.ts';

const TEXTS: Readonly<Record<string, string>> = {
  invalid_client: 'The application is not registered here.',
  invalid_redirect_uri: 'The application asked to return to an address that is not registered for it.',
  access_denied: 'The request was denied.',
  server_error: 'Something went wrong on our side.',
  temporarily_unavailable: 'The server is busy. Try again in a moment.',
};

/** Returns the page. */
export function errorPage({ code, description }: { readonly code: string; readonly description?: string | undefined }): string {
  const text = TEXTS[code] ?? 'The request of the application is not valid.';
  return page(
    'This did not work',
    html`<p>${text}</p>
      <p class="note">
        Go back to the application and start again. Its developers need this:
        <code>${code}</code>${description === undefined ? '' : `, ${description}`}.
      </p>`,
  );
}
