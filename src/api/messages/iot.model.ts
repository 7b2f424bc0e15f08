import type { Uuid } from '../sharing/sharing.model.ts';

/** What is to be put, and where it goes. */
export interface NewUploadUrl {
  /** Experiment that the measurements go to. */
  experimentId: Uuid;
  /**
   * Bytes that will be sent, 1 to 33,554,432; signed, so that nothing else is accepted.
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

/** An object that has been put. */
export interface PutObject {
  /**
   * What `POST /iot/upload-url` answered.
   * @pattern ^[A-Za-z0-9_./-]{1,512}$
   */
  key: string;
}

/** An object that is kept until its measurements are rows. */
export interface ArrivedObject {
  /** The object, as `POST /iot/upload-url` named it. */
  key: string;
  /**
   * Bytes of the object.
   * @isInt
   */
  contentLength: number;
}

/** Where one object can be put, once. */
export interface UploadUrl {
  /**
   * Where to PUT the object.
   * @format uri
   */
  uploadUrl: string;
  /** Names the object, for `POST /iot/upload-complete`. */
  key: string;
  /** When the URL ends, in UTC: 15 minutes after it was made. */
  expiresAt: Date;
  /** To be sent exactly as they are. */
  headers: Record<string, string>;
}
