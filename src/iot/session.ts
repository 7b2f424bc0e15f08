/** One connection to the broker: who it is, what it may do, and why it ended. */
import { randomUUID } from 'node:crypto';
import type { DevicePrincipal, DisconnectReason, BrokerRefusal } from './connections.ts';
import type { PersonalSession } from './credentials.ts';
import { isAllowed, type PolicyDocument, type PolicyVariables } from './evaluator.ts';
import type { Gate } from './gate.ts';
import type { CertificateEnd, CertificateStatus } from './registry.ts';

export type Holder =
  { kind: 'device'; certificateId: string; device: DevicePrincipal } | { kind: 'person'; accessKeyId: string; person: PersonalSession };

/** Why a certificate's state keeps its device out; null: it does not. */
export const stateRefusal: Record<CertificateStatus, BrokerRefusal | null> = {
  active: null,
  inactive: 'certificate-inactive',
  revoked: 'certificate-revoked',
};

/** Why a certificate that nobody holds any more is refused. */
export const endRefusal: Record<CertificateEnd, BrokerRefusal> = {
  rotated: 'certificate-rotated',
  revoked: 'certificate-revoked',
  removed: 'certificate-removed',
};

export class Session {
  readonly id = randomUUID();
  readonly gate: Gate;
  readonly peer: string;
  /** The certificate shown in the handshake, and whether our authority signed it; null: none was shown. */
  readonly certificate: { id: string; ours: boolean } | null;
  clientId = '';
  holder: Holder | null = null;
  /** Milliseconds; when the holder was last looked up. */
  checkedAt = 0;
  /** Rises with every `refresh`, so that a look-up that began before it is done again. */
  generation = 0;
  /** Set once, by whoever ends the connection first. */
  endedBy: DisconnectReason | null = null;
  /** Whether presence was told that it is connected. */
  announced = false;
  expiry: NodeJS.Timeout | null = null;
  refusedFilters = 0;
  #cut: (() => void) | null = null;

  constructor(gate: Gate, peer: string, certificate: { id: string; ours: boolean } | null) {
    this.gate = gate;
    this.peer = peer;
    this.certificate = certificate;
  }

  get certificateId(): string | null {
    return this.certificate?.id ?? null;
  }

  /** Sets what ends the connection; it is known once the MQTT client exists. */
  onEnd(cut: () => void): void {
    this.#cut = cut;
  }

  end(reason: DisconnectReason): void {
    this.endedBy ??= reason;
    if (this.#cut) this.#cut();
    else this.gate.destroy();
  }

  get policies(): readonly PolicyDocument[] {
    if (!this.holder) return [];
    return this.holder.kind === 'device' ? this.holder.device.policies : [this.holder.person.policy];
  }

  get thingName(): string | null {
    return this.holder?.kind === 'device' ? this.holder.device.thingName : null;
  }

  get userId(): string | null {
    return this.holder?.kind === 'person' ? this.holder.person.userId : null;
  }

  get principal(): string | null {
    return this.certificateId ?? (this.holder?.kind === 'person' ? this.holder.accessKeyId : null);
  }

  /** The variables of policies, as AWS resolves them: the thing's name is known only to a client that connects under it. */
  get variables(): PolicyVariables {
    const { clientId, thingName } = this;
    return { 'iot:ClientId': clientId, ...(thingName === clientId ? { 'iot:Connection.Thing.ThingName': thingName } : {}) };
  }

  may(action: 'iot:Connect' | 'iot:Publish' | 'iot:Subscribe' | 'iot:Receive', resource: string): boolean {
    return isAllowed(this.policies, { action, resource, variables: this.variables });
  }
}
