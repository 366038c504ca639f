import { describe, expect, it } from '@jest/globals';
import { createRequestSigner, type UnsignedRequest } from './request-signer.ts';
import { DEFAULT_SIGNING, type Signing } from './signing-settings.ts';

const SIGNING: Signing = { ...DEFAULT_SIGNING, region: 'us-east-1', service: 'service' };
const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'];

const sign = async (
  { headers = [], body = '', ...request }: Pick<UnsignedRequest, 'method' | 'path'> & Partial<UnsignedRequest>,
  { signing = SIGNING, sessionToken = '' } = {},
) => {
  const credentials = () => Promise.resolve({ ...KEY, ...(sessionToken !== '' && { sessionToken }) });
  const signer = createRequestSigner(signing, credentials, () => new Date('2015-08-30T12:36:00Z'));
  const signed = await signer.sign({ host: 'example.amazonaws.com', headers, body, ...request });
  return signed.map((name, i) => (i % 2 === 0 ? ([name, signed[i + 1]] as const) : [])).filter((pair) => pair.length > 0);
};
const signatureOf = (headers: Awaited<ReturnType<typeof sign>>) =>
  /Signature=([\da-f]+)$/.exec(String(headers.find(([name]) => name === 'authorization')?.[1]))?.[1];

describe('the signer of requests', () => {
  it.each([
    ['get-vanilla', { method: 'GET', path: '/' }, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', { method: 'POST', path: '/' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    ['post-vanilla-query', { method: 'POST', path: '/?Param1=value1' }, '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11'],
    [
      'get-vanilla-query-order-key-case',
      { method: 'GET', path: '/?Param2=value2&Param1=value1' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    ['get-utf8', { method: 'GET', path: '/ሴ' }, '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
    [
      'get-unreserved',
      { method: 'GET', path: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' },
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    [
      'post-x-www-form-urlencoded',
      { method: 'POST', path: '/', headers: FORM, body: 'Param1=value1' },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ] as const)('signs as the case %s of the test suite that AWS published', async (_, request, signature) => {
    expect(signatureOf(await sign(request))).toBe(signature);
  });

  it('signs the session token, as the case post-sts-header-before of that suite', async () => {
    const headers = await sign({ method: 'POST', path: '/' }, { sessionToken: TOKEN });
    expect(signatureOf(headers)).toBe('85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead');
    expect(headers).toContainEqual(['x-amz-security-token', TOKEN]);
  });

  it("replaces what a caller sent as a signature's own headers, and keeps all others", async () => {
    const forged = [
      'Authorization',
      'Bearer t',
      'X-AMZ-Date',
      'x',
      'x-amz-security-token',
      'x',
      'X-Amz-Content-Sha256',
      'x',
      'x-request-id',
      'r',
    ];
    const headers = await sign({ method: 'POST', path: '/', headers: forged });
    expect(headers.map(([name]) => name)).toEqual(['x-request-id', 'x-amz-date', 'authorization']);
    expect(signatureOf(headers)).toBe('5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b');
  });

  it('signs no header that a proxy may change', async () => {
    const headers = await sign({ method: 'POST', path: '/', headers: ['traceparent', '00-1-2-01', 'x-amz-meta', '1', 'X-Amz-Meta', '2'] });
    expect(String(headers.at(-1)?.[1])).toContain('SignedHeaders=host;x-amz-date;x-amz-meta,');
  });

  it('does not sign bodies for VPC Lattice, which verifies none', async () => {
    const headers = await sign({ method: 'POST', path: '/' }, { signing: { ...SIGNING, service: 'vpc-lattice-svcs' } });
    expect(headers).toContainEqual(['x-amz-content-sha256', 'UNSIGNED-PAYLOAD']);
  });
});
