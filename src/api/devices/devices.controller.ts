import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { loadCapabilities } from '../../authorization/access.ts';
import { readPageOrWhole, sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { makeFilter } from '../resources/resources.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { issueCertificate, revokeCertificate, rotateCertificate } from './certificates.service.ts';
import type {
  CertificateBundle,
  CertificateRequest,
  ConnectedDevice,
  Device,
  DeviceDetail,
  DeviceExperiment,
  DevicePatch,
  DeviceType,
  NewDevice,
  NewMobileDevice,
  OnboardingConfig,
  OnboardRequest,
} from './devices.model.ts';
import { countDevices, listDevices } from './devices.queries.ts';
import {
  ensureMobile,
  requireDevice,
  patchDevice,
  registerDevice,
  removeDevice,
  addConnectivity,
  loadConnection,
} from './devices.service.ts';
import { listBoundExperiments, onboardDevice } from './onboarding.service.ts';

interface DeviceListQuery extends ListPage {
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. `all` by default. */
  scope?: 'all' | 'related';
  /** Only devices of this type. */
  deviceType?: DeviceType;
  /**
   * Part of a name, serial number or thing name; at most 200 characters.
   * @maxLength 200
   */
  search?: string;
}

@Route('api/v1/devices')
@Tags('Devices')
export class DevicesController extends ApiController {
  /**
   * Answers the devices that you may read, newest first, and whether each is connected. Without `page` and `pageSize` at most 1,000 go out.
   * X-Total-Count says how many there are, exactly up to 10,000 or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the devices you may read
   */
  @Get()
  @Security('caller')
  public async listDevices(@Queries() query: DeviceListQuery): Promise<ConnectedDevice[]> {
    const page = readPageOrWhole(query);
    const filter = { ...makeFilter(this.caller.userId, query), deviceType: query.deviceType };
    const rows = listDevices(this.ctx.db, filter, page).then((devices) => addConnectivity(this.ctx, devices));
    return this.answerPage(page, rows, countDevices(this.ctx.db, filter, this.countLimit));
  }

  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. A device is known by its type and serial number;
   * it gets its certificate afterwards, by `credentials`. Refused with SERIAL_TAKEN (409) when it is registered already, and NOT_A_MEMBER (403) for
   * an organization of others.
   * @summary Register a device
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async registerDevice(@Body() body: NewDevice): Promise<Device> {
    return registerDevice(this.ctx, this.caller, body);
  }

  /**
   * For everybody who is signed in. Registers this installation of the mobile app, or answers it: the same again changes nothing. An installation of
   * another account refuses with INSTALL_TAKEN (409).
   * @summary Register this phone
   */
  @Post('mobile')
  @Security('caller')
  public async registerMobileDevice(@Body() body: NewMobileDevice): Promise<Device> {
    return ensureMobile(this.ctx, this.caller, body);
  }

  /**
   * For everybody who may read the device. Answers the device, whether it is connected, what it connects to, and what you may do
   * with it.
   * @summary Read one device
   */
  @Get('{deviceId}')
  @Security('caller', ['device:read'])
  public async getDevice(@Path() deviceId: string): Promise<DeviceDetail> {
    const [capabilities, device] = await Promise.all([
      loadCapabilities(this.ctx.db, this.caller.userId, 'device', deviceId),
      requireDevice(this.ctx, deviceId),
    ]);
    const [[connected], connection] = await Promise.all([addConnectivity(this.ctx, [device]), loadConnection(this.ctx, device)]);
    return this.answer({ ...device, connectivity: connected?.connectivity ?? null, connection, capabilities });
  }

  /**
   * Only for owners and admins of the device. Gives it another name, or none with null: its serial number then stands for it. With `If-Match`, a
   * newer version refuses with PRECONDITION_FAILED (412).
   * @summary Rename a device
   */
  @Patch('{deviceId}')
  @Security('caller', ['device:update'])
  public async updateDevice(@Path() deviceId: string, @Body() body: DevicePatch): Promise<Device> {
    return this.answer(await patchDevice(this.ctx, this.caller, this.readTarget({ id: deviceId }), body));
  }

  /**
   * Only for owners and admins of the device. Ends its certificates and its connections, and removes it from the registry. What it measured stays.
   * With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Remove a device
   */
  @Delete('{deviceId}')
  @Security('caller', ['device:manage'])
  public async deleteDevice(@Path() deviceId: string): Promise<null> {
    return removeDevice(this.ctx, this.caller, this.readTarget({ id: deviceId }));
  }

  /**
   * Only for owners and admins of the device. Gives a device without a certificate one. The answer is shown once and kept nowhere; with your own
   * signing request no private key exists but yours. Refused with DEVICE_STATE_REFUSED when it has one or is a phone, DEVICE_BUSY while another
   * change runs (409), and CSR_INVALID (400).
   * @summary Issue a certificate for a device
   */
  @Post('{deviceId}/credentials')
  @Security('caller', ['device:manage'])
  @SuccessResponse(201, 'Created')
  public async issueDeviceCredentials(@Path() deviceId: string, @Body() body?: CertificateRequest): Promise<CertificateBundle> {
    this.response.setHeader('Cache-Control', 'no-store');
    return issueCertificate(this.ctx, this.caller, deviceId, body?.csr);
  }

  /**
   * Only for owners and admins of the device. The certificate ends, and a live connection with it. Refused with DEVICE_STATE_REFUSED when there is
   * nothing to end, and DEVICE_BUSY while another change runs (409).
   * @summary Revoke the certificate of a device
   */
  @Delete('{deviceId}/credentials')
  @Security('caller', ['device:manage'])
  public async revokeDeviceCredentials(@Path() deviceId: string): Promise<Device> {
    return revokeCertificate(this.ctx, this.caller, deviceId);
  }

  /**
   * Only for owners and admins of the device. Gives the device another certificate; the old one ends when this answer has gone out. The answer is
   * shown once and kept nowhere. Refused with DEVICE_STATE_REFUSED when it has none to replace, DEVICE_BUSY while another change runs (409), and
   * CSR_INVALID (400).
   * @summary Replace the certificate of a device
   */
  @Post('{deviceId}/credentials/rotate')
  @Security('caller', ['device:manage'])
  @SuccessResponse(201, 'Created')
  public async rotateDeviceCredentials(@Path() deviceId: string, @Body() body?: CertificateRequest): Promise<CertificateBundle> {
    this.response.setHeader('Cache-Control', 'no-store');
    const { bundle, retire } = await rotateCertificate(this.ctx, this.caller, deviceId, body?.csr);
    this.response.once('finish', () => {
      // what fails here is ended by the next sweep
      retire().catch((error: unknown) => this.ctx.log.warn({ err: error, deviceId }, 'the old certificate could not be ended yet'));
    });
    return bundle;
  }

  /**
   * Only for owners and admins of the device. You must be able to contribute to each experiment. Binds the device, and answers all that it needs to
   * publish to every live experiment; without ids, the answer as things are. A refusal binds nothing: DEVICE_STATE_REFUSED without a certificate,
   * EXPERIMENT_ARCHIVED, TOO_MANY_BINDINGS beyond 100 (409), or EXPERIMENT_UNREADABLE (403) when it is bound to one that you may not read.
   * @summary Bind a device to experiments
   */
  @Post('{deviceId}/onboard')
  @Security('caller', ['device:manage'])
  public async onboardDevice(@Path() deviceId: string, @Body() body?: OnboardRequest): Promise<OnboardingConfig> {
    return onboardDevice(this.ctx, this.caller, deviceId, body ?? {});
  }

  /**
   * For everybody who may read the device. Answers the experiments that the device is bound to and that you may read, newest binding first,
   * with the topic of each. X-Total-Count says how many there are, and Link leads to the other pages.
   * @summary List the experiments of a device
   */
  @Get('{deviceId}/experiments')
  @Security('caller', ['device:read'])
  public async listDeviceExperiments(@Path() deviceId: string, @Queries() page: ListPage): Promise<DeviceExperiment[]> {
    return sliceList(this.response, await listBoundExperiments(this.ctx, this.caller, deviceId), page);
  }
}
