/**
 * Removes secrets from requests, detected by their names and by their format. When in doubt, a value is
 * omitted.
 */
export const OMITTED = '(value omitted)';

/** Names in lower case, with `_` between their words. */
const SECRET = new RegExp([
  'auth(?!ors?(_|$))', 'cookie', 'token', 'secret', 'credential', 'session', 'csrf', 'xsrf', 'signature', 'saml',
  'pass(?!enger|ive|age)', 'kennwort', 'contrase', 'motdepasse', 'wachtwoord', '(^|_)(mdp|senha|parola)(_|$)',
  'pwd', 'pswd', 'pw\\d*(_|$)', '(^|_)(new_?|old_?|user_?|login_?|card_?|sms_?)?pin(_?code)?\\d*(_|$)',
  '(api|private|access|secret)_?key', 'jwt', '(^|_)[ht]?otp', 'otp\\d*(_|$)', '(^|_)(mfa|2fa|tfa|pan|sid|ssn|iban)(_|$)',
  '(^|_)(2fa|mfa|sms|otp|auth\\w*|one_?time|verif\\w*|confirm\\w*|security|login|access|backup|recovery|reset|device|user'
    + '|activation)_?code(_|$)',
  '^code$', 'cvc', 'cvv', '(^|_)csc(_|$)', 'card_?(num|no(_|$)|exp|code|holder|id)', '(^|_)cc_?(num|name|exp|month|year|type)',
].join('|'));

/** Names of query members that are secret only there. */
const SECRET_IN_QUERY = /^(key|ticket|sig|hash)$/;

/** Members of an object that describe the content of another member. */
const NAMING = new Set(['name', 'field', 'key', 'id', 'type', 'label', 'path', 'attribute', 'param', 'fieldname']);
const NAME_CHARS = 64;

const JWT = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;
const CARD = /(?<![\d.-])[2-6](?:[ -]?\d){12,18}(?![\d.-])/g;
const GRAPHQL = /^\s*(?:#[^\n]*\n\s*)*(?:(?:query|mutation|subscription|fragment)\b|\{)[^]*\{/;
const GRAPHQL_TEXT = /"""[^]*?"""|"(?:[^"\\\n]|\\.)*"/g;
const NAMED = /([\p{L}\p{N}_.[\]-]{2,64})(["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)}\]]+)/gu;
const DEEPEST = 50;

/** Whether a header, field or member of this name holds a secret. */
export function isSecretName(name) {
  const words = name.slice(0, 1_000).replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');
  return SECRET.test(words.replace(/^_|_$/g, ''));
}

/** An address without the secrets in its query and its fragment, and without user name and password. */
export function shownAddress(url) {
  return url.replace(/^([a-z][\w+.-]*:\/\/)[^/?#@]*@/i, '$1')
    .replace(/([?&#])([^=&#?]*)=([^&#]*)/g, (whole, sign, name, value) => {
      const given = decoded(name);
      const isSecret = isSecretName(given) || SECRET_IN_QUERY.test(given.toLowerCase());
      const inner = decoded(value);
      const isSafe = !isSecret && (inner === value || shownAddress(inner) === inner) && shownText(inner) === inner;
      return isSafe ? whole : `${sign}${name}=${OMITTED}`;
    })
    .replace(JWT, OMITTED);
}

/** Where `shownAddress` has omitted something: a whole value, or a token between the signs around it. */
const GAP = /[/=?&#;]\(value(?: |%20)omitted\)(?=[/?&#;.*]|$)/;

/** True for an address with an omitted secret, as reported to agents or as a browser writes it. */
export function hasGap(url) {
  return GAP.test(url);
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** A text without the values of secret names, and without tokens and card numbers. */
export function shownText(text) {
  return text
    .replace(JWT, OMITTED)
    .replace(CARD, (digits) => (isCard(digits) ? OMITTED : digits))
    .replace(NAMED, (whole, name, sign) => (isSecretName(name) ? `${name}${sign}${OMITTED}` : whole));
}

/** Card numbers have a check digit, which few other numbers have by chance. */
function isCard(text) {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number);
  const sum = digits.reduce((all, digit, at) => all + (at % 2 === 0 ? digit : (digit * 2) % 10 + Math.floor(digit / 5)), 0);
  return sum % 10 === 0;
}

/** A JSON value without the secrets in it; `within` is the name of its container. */
export function shownValue(value, within = '', depth = 0) {
  if (depth > DEEPEST) return OMITTED;
  if (typeof value === 'string') return shownString(value, depth);
  if (typeof value === 'number') return shownText(String(value)) === String(value) ? value : OMITTED;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const [name] = value;
    if (value.length === 2 && isSecretString(name)) return [name, OMITTED];
    return value.map((each) => shownValue(each, within, depth + 1));
  }
  const members = Object.entries(value);
  const isNamed = members.some(([name, each]) => NAMING.has(name.toLowerCase()) && isSecretString(each));
  const shown = members.map(([name, each]) => {
    if (isSecretName(name) || isSecretName(`${within}_${name}`)) return [name, OMITTED];
    if (isNamed && !(NAMING.has(name.toLowerCase()) && typeof each === 'string')) return [name, OMITTED];
    return [name, shownValue(each, name, depth + 1)];
  });
  return Object.fromEntries(shown);
}

const isSecretString = (value) =>
  typeof value === 'string' && value.length <= NAME_CHARS && isSecretName(value);

/** A text may itself be JSON or GraphQL. */
function shownString(text, depth) {
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.stringify(shownValue(JSON.parse(text), '', depth + 1));
    } catch {
      // It only begins like JSON.
    }
  }
  return shownText(GRAPHQL.test(text) ? text.replace(GRAPHQL_TEXT, `"${OMITTED}"`) : text);
}
