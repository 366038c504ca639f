/** The pages of the device flow (RFC 8628 §3.3): enter the code, compare it, done. No I/O. */
import { alert, hidden, html, page } from './layout.ts';

interface DeviceForm {
  readonly action: string;
  readonly xsrf: string;
}

/** Returns the page on which the code is entered. */
export function deviceInputPage({
  action,
  xsrf,
  userCode = '',
  fault,
}: DeviceForm & { readonly userCode?: string; readonly fault?: string | undefined }): string {
  return page(
    'Connect a device',
    html`<p>Enter the code that your device shows.</p>
      ${alert(fault)}
      <form method="post" action="${action}">
        ${hidden('xsrf', xsrf)}
        <label
          >Code
          <input
            class="code"
            name="user_code"
            type="text"
            required
            maxlength="32"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
            value="${userCode}"
        /></label>
        <button>Continue</button>
      </form>
      <p class="note">Enter only a code that you asked for yourself. Nobody will send you one by mail or telephone.</p>`,
  );
}

/** Returns the page on which people compare the code with that of their device. */
export function deviceConfirmPage({
  action,
  xsrf,
  clientName,
  userCode,
}: DeviceForm & { readonly clientName: string; readonly userCode: string }): string {
  return page(
    'Is this your device?',
    html`<p><strong>${clientName}</strong> asks to be connected. Does your device show this code?</p>
      <p class="code">${userCode}</p>
      <form method="post" action="${action}">
        ${hidden('xsrf', xsrf)} ${hidden('user_code', userCode)}
        <button name="confirm" value="yes">Yes, continue</button>
        <button class="quiet" name="abort" value="yes">No, cancel</button>
      </form>`,
  );
}

/** Returns the page at the end. */
export function deviceDonePage(clientName: string): string {
  return page(
    'Device connected',
    html`<p><strong>${clientName}</strong> has access now. You can close this page and go on at your device.</p>`,
  );
}
