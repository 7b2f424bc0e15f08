export interface NewUploadUrl {
  /** @pattern ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ */
  experimentId: string;
  /**
   * Bytes that will be sent; signed, so that nothing else is accepted.
   * @isInt
   * @minimum 1
   * @maximum 33554432
   */
  contentLength?: number;
  /**
   * Media type that will be sent; signed.
   * @pattern ^[\w.+-]{1,64}/[\w.+-]{1,64}$
   */
  contentType?: string;
  /**
   * SHA-256 of the bytes, in hexadecimal; signed, and checked on arrival.
   * @pattern ^[0-9a-fA-F]{64}$
   */
  sha256?: string;
}

/** Where one object can be put, once. */
export interface UploadUrl {
  /** @format uri */
  uploadUrl: string;
  key: string;
  expiresAt: Date;
  /** To be sent exactly as they are. */
  headers: Record<string, string>;
}
