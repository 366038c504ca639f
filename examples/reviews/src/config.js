/** Reads the settings of the process from the environment. */

/** Returns the settings. Throws one error that names every setting with an invalid value. */
export function readConfig(env) {
  const faults = [];
  const read = (name, fallback, isValid) => {
    const value = env[name] || fallback;
    if (value === undefined || !isValid(value)) faults.push(`${name} is ${value === undefined ? 'not set' : 'invalid'}.`);
    return value;
  };
  const isUrl = (protocols) => (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol);
  const config = {
    databaseUrl: read('DATABASE_URL', undefined, isUrl(['postgres:', 'postgresql:'])),
    host: read('HOST', '127.0.0.1', () => true),
    port: Number(read('PORT', '4011', (text) => /^\d{1,5}$/.test(text) && Number(text) < 65_536)),
    jwksUrl: read('JWKS_URL', 'http://localhost:3000/.well-known/jwks.json', isUrl(['http:', 'https:'])),
  };
  if (faults.length > 0) throw new Error(faults.join(' '));
  return config;
}
