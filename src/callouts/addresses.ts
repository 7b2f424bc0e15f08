import { BlockList, isIP } from 'node:net';

const list = (ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const blocked = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    blocked.addSubnet(address, Number(bits), family);
  }
  return blocked;
};

// ranges of IANA's special-purpose registries: addresses that are not for the whole internet
const SPECIAL_4 = list(
  [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
  'ipv4',
);
const GLOBAL_6 = list(['2000::/3'], 'ipv6');
// ranges inside 2000::/3 that are no public hosts of their own: tunnels that carry an IPv4 address, documentation, benchmarks
const SPECIAL_6 = list(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'], 'ipv6');

/** Whether an address is a host on the public internet: not private, loopback, link-local, multicast, reserved, or a way of writing one of these. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !SPECIAL_4.check(address, 'ipv4');
  return family === 6 && !address.includes('%') && GLOBAL_6.check(address, 'ipv6') && !SPECIAL_6.check(address, 'ipv6');
}

const LOOPBACK = list(['127.0.0.0/8'], 'ipv4');

export function isLoopbackAddress(address: string): boolean {
  return isIP(address) === 4 ? LOOPBACK.check(address, 'ipv4') : address === '::1';
}
