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

export interface PutObject {
  /**
   * What `POST /iot/upload-url` answered.
   * @pattern ^[A-Za-z0-9_./-]{1,512}$
   */
  key: string;
}

/** An object that is kept until its measurements are rows. */
export interface ArrivedObject {
  key: string;
  /**
   * Bytes.
   * @isInt
   */
  contentLength: number;
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
