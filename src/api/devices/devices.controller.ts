import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { expectedVersions, listed, mostCounted, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { listReadableExperiments } from './bindings.queries.ts';
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
import { ensureMobile, mustFindDevice, patchDevice, registerDevice, removeDevice, withConnectivity } from './devices.service.ts';
import { onboardDevice } from './onboarding.service.ts';

interface DeviceListQuery {
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. */
  scope?: 'all' | 'related';
  deviceType?: DeviceType;
  /**
   * Part of a name, serial number or thing name.
   * @maxLength 200
   */
  search?: string;
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

const UNPAGED = 1_000;

@Route('api/v1/devices')
@Tags('Devices')
export class DevicesController extends ApiController {
  /** Lists devices, newest first, and whether each is connected. Without `page` and `pageSize` at most 1,000 go out. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: DeviceListQuery): Promise<ConnectedDevice[]> {
    const unpaged = query.page === undefined && query.pageSize === undefined;
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? (unpaged ? UNPAGED : 100) };
    const filter = {
      userId: this.caller.userId,
      scope: query.scope ?? 'all',
      search: query.search?.trim() || undefined,
      deviceType: query.deviceType,
    };
    const [rows, total] = await Promise.all([
      listDevices(this.ctx.db, filter, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countDevices(this.ctx.db, filter, mostCounted(request)),
    ]);
    return listed(request, this.response, { rows: await withConnectivity(this.ctx, rows), total }, page);
  }

  /** Registers a device by its type and serial number. It gets its certificate afterwards, by `credentials`. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewDevice): Promise<Device> {
    this.setStatus(201);
    return registerDevice(this.ctx, this.caller, body);
  }

  /** Registers this installation of the mobile app, or answers it: the same again changes nothing. */
  @Post('mobile')
  @Security('caller')
  public async mobile(@Body() body: NewMobileDevice): Promise<Device> {
    return ensureMobile(this.ctx, this.caller, body);
  }

  /** One device, whether it is connected, and what you may do with it. */
  @Get('{deviceId}')
  @Security('caller', ['device:read'])
  public async get(@Path() deviceId: string): Promise<DeviceDetail> {
    const [capabilities, { version, ...device }] = await Promise.all([
      capabilitiesOf(this.ctx.db, this.caller.userId, 'device', deviceId),
      mustFindDevice(this.ctx, deviceId),
    ]);
    const [connected] = await withConnectivity(this.ctx, [device]);
    return tagged(this.response, { ...device, connectivity: connected?.connectivity ?? null, capabilities }, version);
  }

  /** Gives it another name, or none with null. */
  @Patch('{deviceId}')
  @Security('caller', ['device:update'])
  public async update(@Request() request: HttpRequest, @Path() deviceId: string, @Body() body: DevicePatch): Promise<Device> {
    const { version, ...device } = await patchDevice(this.ctx, this.caller, deviceId, body, expectedVersions(request));
    return tagged(this.response, device, version);
  }

  /** Ends its certificates and removes it. What it measured stays. */
  @Delete('{deviceId}')
  @Security('caller', ['device:manage'])
  public async remove(@Request() request: HttpRequest, @Path() deviceId: string): Promise<null> {
    return removeDevice(this.ctx, this.caller, deviceId, expectedVersions(request));
  }

  /** Gives a device without a certificate one. The answer is shown once and kept nowhere; with your own signing request no private key exists but yours. */
  @Post('{deviceId}/credentials')
  @Security('caller', ['device:manage'])
  @SuccessResponse(201, 'Created')
  public async issue(@Path() deviceId: string, @Body() body?: CertificateRequest): Promise<CertificateBundle> {
    this.setStatus(201);
    return issueCertificate(this.ctx, this.caller, deviceId, body?.csr);
  }

  /** Ends a device's certificate; a live connection ends with it. */
  @Delete('{deviceId}/credentials')
  @Security('caller', ['device:manage'])
  public async revoke(@Path() deviceId: string): Promise<Device> {
    return revokeCertificate(this.ctx, this.caller, deviceId);
  }

  /** Gives a device another certificate. The old one ends when this answer has gone out. */
  @Post('{deviceId}/credentials/rotate')
  @Security('caller', ['device:manage'])
  @SuccessResponse(201, 'Created')
  public async rotate(@Path() deviceId: string, @Body() body?: CertificateRequest): Promise<CertificateBundle> {
    this.setStatus(201);
    const { bundle, retire } = await rotateCertificate(this.ctx, this.caller, deviceId, body?.csr);
    this.response.once('finish', () => {
      // what fails here is ended by the next sweep
      retire().catch((error: unknown) => this.ctx.log.warn({ err: error, deviceId }, 'the old certificate could not be ended yet'));
    });
    return bundle;
  }

  /** Binds a device to experiments that you may contribute to, and answers all that it needs to publish. Without ids, the answer as things are. */
  @Post('{deviceId}/onboard')
  @Security('caller', ['device:manage'])
  public async onboard(@Path() deviceId: string, @Body() body?: OnboardRequest): Promise<OnboardingConfig> {
    return onboardDevice(this.ctx, this.caller, deviceId, body ?? {});
  }

  /** The experiments of a device that you may read, newest first. */
  @Get('{deviceId}/experiments')
  @Security('caller', ['device:read'])
  public async experiments(@Path() deviceId: string): Promise<DeviceExperiment[]> {
    return listReadableExperiments(this.ctx.db, this.caller.userId, deviceId);
  }
}
