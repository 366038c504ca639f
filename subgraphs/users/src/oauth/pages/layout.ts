/** The frame of the pages: plain HTML with one style sheet. No I/O. */

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** HTML that is safe to send: text of ours, and escaped values. */
export interface Html {
  readonly html: string;
}

/** Builds HTML. Values are escaped, unless they are HTML themselves. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return { html: String.raw({ raw: strings }, ...values.map(toText)) };
}

function toText(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escapeHtml(value);
  return 'html' in value ? value.html : value.map((each) => each.html).join('\n');
}

/** Nothing. */
export const NOTHING: Html = { html: '' };

/** Returns a hidden field of a form. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** Returns a script of ours, unchanged: its hash is in the policy of the page. */
export function script(code: string): Html {
  return { html: `<script>${code}</script>` };
}

/** Returns an alert that says what was wrong with a form; nothing without a text. */
export function alert(text: string | undefined): Html {
  return text === undefined ? NOTHING : html`<p class="alert" role="alert">${text}</p>`;
}

/** Returns a whole page. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Trestle</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/oauth/style.css" />
      </head>
      <body>
        <main>
          <p class="brand">Trestle</p>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.html;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
