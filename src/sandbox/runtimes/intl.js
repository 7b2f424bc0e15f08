// Evaluated after the prelude when a macro formats by locale: Intl over the host's, as text in and text out.
(function (hostIntl) {
  'use strict';
  const ask = (kind, locales, options, method, args) =>
    JSON.parse(hostIntl(JSON.stringify({ kind, locales, options, method, args }))).value;
  const time = (value) => (value === undefined ? Date.now() : +value);
  const formatter = (kind, methods, convert) =>
    function (locales, options) {
      ask(kind, locales, options, 'resolvedOptions', []);
      const made = {};
      for (const method of [...methods, 'resolvedOptions'])
        made[method] = (...args) => ask(kind, locales, options, method, method === 'resolvedOptions' ? [] : convert(args));
      return Object.freeze(made);
    };
  const plain = (args) => args.map((value) => (typeof value === 'bigint' ? String(value) : value));
  const times = (args) => (args.length === 0 ? [time()] : args.map(time));
  this.Intl = Object.freeze({
    NumberFormat: formatter('NumberFormat', ['format', 'formatToParts', 'formatRange'], plain),
    DateTimeFormat: formatter('DateTimeFormat', ['format', 'formatToParts', 'formatRange'], times),
    Collator: formatter('Collator', ['compare'], plain),
    PluralRules: formatter('PluralRules', ['select'], plain),
    ListFormat: formatter('ListFormat', ['format', 'formatToParts'], plain),
    RelativeTimeFormat: formatter('RelativeTimeFormat', ['format', 'formatToParts'], plain),
  });
  const localise = (prototype, name, call) => Object.defineProperty(prototype, name, { value: call, writable: true, configurable: true });
  localise(Number.prototype, 'toLocaleString', function (locales, options) {
    return ask('NumberFormat', locales, options, 'format', [+this]);
  });
  const whole = { dateStyle: 'short', timeStyle: 'medium' };
  for (const [name, usual] of [
    ['toLocaleString', whole],
    ['toLocaleDateString', { dateStyle: 'short' }],
    ['toLocaleTimeString', { timeStyle: 'medium' }],
  ]) {
    localise(Date.prototype, name, function (locales, options) {
      return ask('DateTimeFormat', locales, options === undefined ? usual : options, 'format', [+this]);
    });
  }
  localise(String.prototype, 'localeCompare', function (other, locales, options) {
    return ask('Collator', locales, options, 'compare', [String(this), String(other)]);
  });
}).bind(this);
