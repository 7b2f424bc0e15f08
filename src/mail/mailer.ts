/** A letter as it goes out: text and HTML say the same. */
export interface Letter {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The same for every try, so that one letter that goes out twice can be told from two letters. */
  messageId?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Sends letters: an SMTP server, or a folder. */
export interface Mailer {
  /** Sends one letter. Errors: mailRefused when the server will never take it, mailUnavailable when another try may help. */
  send(letter: Letter): Promise<void>;
  /** Asks whether letters can be sent now. Throws when not. */
  check(): Promise<void>;
  /** Removes the letters that it keeps to addresses for which `isMeant` is true. A letter that has left for a mail server cannot be removed. */
  forget(isMeant: (address: string) => boolean): Promise<void>;
  /** Where letters go, for the person who starts the service. */
  readonly destination: string;
  close(): Promise<void>;
}
