/** A browser without scripts: keeps cookies by path, follows redirects of the server, and sends the forms of its pages. */

/** A page, or the address of a client to which the server redirected. */
export interface Visit {
  readonly status: number;
  readonly url: string;
  readonly html: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

const MAX_REDIRECTS = 10;

/** A browser for one origin. */
export class FormBrowser {
  readonly #origin: string;
  readonly #cookies = new Map<string, Cookie>();
  page: Visit | undefined;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Opens an address, and follows redirects until a page comes or another origin is reached. */
  async open(address: string | URL, init: RequestInit = {}): Promise<Visit> {
    let url = new URL(address, this.#origin);
    let request = init;
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      const response = await this.#send(url, request);
      const location = response.headers.get('location');
      if (location === null)
        return (this.page = { status: response.status, url: url.href, html: await response.text(), headers: response.headers });
      await response.arrayBuffer();
      url = new URL(location, url);
      request = {};
      if (url.origin !== this.#origin) return (this.page = { status: response.status, url: url.href, html: '', headers: response.headers });
    }
    throw new Error('Too many redirects');
  }

  /** Sends the form of the page, with its hidden fields. */
  async submit(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Visit> {
    const { action, init } = this.#toRequest(fields, headers);
    return this.open(action, init);
  }

  /** Sends the form of the page as `submit` does, and does not follow the redirect. Returns where it leads to. */
  async submitOnly(fields: Readonly<Record<string, string>>): Promise<string> {
    const { action, init } = this.#toRequest(fields, {});
    const { headers } = await this.#send(new URL(action, this.#origin), init);
    return headers.get('location') ?? '';
  }

  /** Returns where the form of the page goes, and its hidden fields. */
  form(): { readonly action: string; readonly hidden: Record<string, string> } {
    const { html = '', url = '' } = this.page ?? {};
    const action = /<form method="post"(?: action="([^"]*)")?>/.exec(html);
    if (!action) throw new Error(`No form on the page: ${html}`);
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" ?\/?>/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    return { action: action[1] ?? url, hidden: Object.fromEntries(hidden) as Record<string, string> };
  }

  /** Logs in and allows what is asked. Returns the address of the client with its parameters. */
  async approve(address: string | URL, { email, password }: { readonly email: string; readonly password: string }): Promise<URL> {
    await this.open(address);
    if (this.page?.html.includes('name="password"')) await this.submit({ email, password, action: 'login' });
    if (this.page?.html.includes('value="approve"')) await this.submit({ action: 'approve' });
    return new URL(this.page?.url ?? '');
  }

  /** Returns the header with the cookies for a path. */
  cookiesFor(path: string): string {
    const sent = [...this.#cookies].filter(([, cookie]) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')));
    return sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
  }

  /** Takes the cookies of another browser whose names contain the text. */
  steal(other: FormBrowser, name: string): void {
    for (const [each, cookie] of other.#cookies) if (each.includes(name)) this.#cookies.set(each, cookie);
  }

  #toRequest(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) {
    const { action, hidden } = this.form();
    const body = new URLSearchParams({ ...hidden, ...fields });
    return { action, init: { method: 'POST', body, headers: { origin: this.#origin, ...headers } } };
  }

  async #send(url: URL, request: RequestInit): Promise<Response> {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: this.cookiesFor(url.pathname), ...(request.headers as Record<string, string> | undefined) },
    });
    this.#keep(response.headers, url.pathname);
    return response;
  }

  #keep(headers: Headers, path: string): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const given = attributes.find((each) => each.toLowerCase().startsWith('path='))?.slice(5);
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path: given ?? path });
    }
  }
}
