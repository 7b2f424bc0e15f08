/** The words that exported functions may begin with. The glossary of docs/architecture.md says what the common ones mean; a word has one meaning. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const VERBS = words(`
  abandon accept add admit adopt allow annotate announce anonymise answer append ask attach audit authenticate await beat begin bind blame
  bound build call cancel canonicalise carry change check choose claim classify clean clear close commit compact compile complete confirm
  connect copy correlate count create cut decide decode delete deliver derive describe detach disable discard disown drain draw drop embargo
  end enqueue ensure erase evaluate excuse execute expire explain express fail fetch fill find finish flatten fold forget frame gather
  generate get give grant group hand hash hold identify import index infer ingest insert invite issue join keep launch leave limit link list
  load locate lock make mark measure merge migrate monitor move name normalise note notice observe onboard open order parse patch pick pin
  place plan prepare preview print prolong protect publish put quote raise reach reactivate read rebind receive record redeem redeliver refresh
  refund refuse register reject release remember remove rename render reopen replace replay report reprocess request require rest restamp
  restore retire retry reverse revoke rotate run save scan seal search seed send set settle shape share shorten sign slice sort spend split
  stage start stop store stream subscribe suggest sum sweep take test touch transfer translate trim try unlink unsubscribe update upgrade
  upsert use validate verify wait wake watch widen withdraw wrap write
`);

/** What a truth begins with. */
export const TRUTHS = words('is has can are needs');

/** Tags and pieces of text, which are read as what they make. */
export const TAGS = words('constant fragment html keyword q raw sql');
