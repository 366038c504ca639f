/** A real SMTP server on this machine, which keeps what it receives, and can be made to refuse mails. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A received mail. */
export interface ReceivedMail {
  readonly to: string;
  readonly messageId: string;
  readonly text: string;
  /** The address of the link in it. */
  readonly link: URL;
}

/** The server. */
export interface MailServer {
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Called before a mail is accepted; a thrown error with a `responseCode` is sent in reply. */
  beforeAccept: (mail: ReceivedMail) => Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server on a free port. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const own: MailServer = { url: '', mails, beforeAccept: () => Promise.resolve(), stop: () => Promise.resolve() };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      const receive = async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
        const mail = toMail(Buffer.concat(chunks).toString('utf8'), session.envelope.rcptTo[0]?.address ?? '');
        await own.beforeAccept(mail);
        mails.push(mail);
      };
      receive().then(
        () => {
          done();
        },
        (error: unknown) => {
          done(error as Error);
        },
      );
    },
  });
  // Clients that are killed in the middle of a mail.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return Object.assign(own, {
    url: `smtp://127.0.0.1:${String(port)}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  });
}

function toMail(source: string, to: string): ReceivedMail {
  // Quoted-printable (RFC 2045 §6.7): soft line breaks, and escaped characters.
  const text = source.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  return {
    to,
    messageId: /^Message-ID: (.*)$/im.exec(source)?.[1]?.trim() ?? '',
    text,
    link: new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? 'http://none.invalid'),
  };
}
