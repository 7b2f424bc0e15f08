/** System-call filters as classic BPF, in the byte form that `bwrap --seccomp` reads: 8 bytes an instruction, host byte order. */
export type Architecture = 'x64' | 'arm64';

interface Table {
  audit: number;
  /** Call numbers from this one on are another calling convention of the same machine. */
  foreign?: number;
  calls: Readonly<Record<string, number>>;
}

/** Calls that a macro has no use for: sockets, new processes, other processes' memory and turns, mounts, keys, times of files (/dev/null
 * is the machine's), kernel facilities. */
// prettier-ignore
const TABLES: Readonly<Record<Architecture, Table>> = {
  x64: {
    audit: 0xc000003e,
    foreign: 0x40000000,
    calls: {
      socket: 41, connect: 42, accept: 43, sendto: 44, sendmsg: 46, bind: 49, listen: 50, socketpair: 53, accept4: 288, sendmmsg: 307,
      fork: 57, vfork: 58, execveat: 322, ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312, pidfd_open: 434, pidfd_getfd: 438,
      pidfd_send_signal: 424, process_madvise: 440, unshare: 272, setns: 308, mount: 165, umount2: 166, pivot_root: 155, chroot: 161, move_mount: 429,
      open_tree: 428, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, mount_setattr: 442, mknod: 133, mknodat: 259, name_to_handle_at: 303,
      open_by_handle_at: 304, bpf: 321, perf_event_open: 298, userfaultfd: 323, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427,
      add_key: 248, request_key: 249, keyctl: 250, init_module: 175, finit_module: 313, delete_module: 176, kexec_load: 246, kexec_file_load: 320,
      reboot: 169, swapon: 167, swapoff: 168, syslog: 103, acct: 163, quotactl: 179, personality: 135, modify_ldt: 154, iopl: 172, ioperm: 173,
      settimeofday: 164, clock_settime: 227, adjtimex: 159, clock_adjtime: 305, sethostname: 170, setdomainname: 171, migrate_pages: 256, move_pages: 279,
      fanotify_init: 300, memfd_create: 319, memfd_secret: 447, shmget: 29, msgget: 68, semget: 64, mq_open: 240, vhangup: 153, lookup_dcookie: 212,
      setpriority: 141, sched_setparam: 142, sched_setscheduler: 144, sched_setaffinity: 203, sched_setattr: 314, ioprio_set: 251,
      utime: 132, utimes: 235, futimesat: 261, utimensat: 280,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      socket: 198, socketpair: 199, bind: 200, listen: 201, accept: 202, connect: 203, sendto: 206, sendmsg: 211, accept4: 242, sendmmsg: 269,
      execveat: 281, ptrace: 117, process_vm_readv: 270, process_vm_writev: 271, kcmp: 272, pidfd_open: 434, pidfd_getfd: 438, pidfd_send_signal: 424,
      process_madvise: 440, unshare: 97, setns: 268, mount: 40, umount2: 39, pivot_root: 41, chroot: 51, move_mount: 429, open_tree: 428, fsopen: 430,
      fsconfig: 431, fsmount: 432, fspick: 433, mount_setattr: 442, mknodat: 33, name_to_handle_at: 264, open_by_handle_at: 265, bpf: 280,
      perf_event_open: 241, userfaultfd: 282, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, add_key: 217, request_key: 218,
      keyctl: 219, init_module: 105, finit_module: 273, delete_module: 106, kexec_load: 104, kexec_file_load: 294, reboot: 142, swapon: 224, swapoff: 225,
      syslog: 116, acct: 89, quotactl: 60, personality: 92, settimeofday: 170, clock_settime: 112, adjtimex: 171, clock_adjtime: 266, sethostname: 161,
      setdomainname: 162, migrate_pages: 238, move_pages: 239, fanotify_init: 262, memfd_create: 279, memfd_secret: 447, shmget: 194, msgget: 186,
      semget: 190, mq_open: 180, vhangup: 58, lookup_dcookie: 18, setpriority: 140, sched_setparam: 118, sched_setscheduler: 119, sched_setaffinity: 122,
      sched_setattr: 274, ioprio_set: 30, utimensat: 88,
    },
  },
};

const CLONE: Readonly<Record<Architecture, number>> = { x64: 56, arm64: 220 };
const PRLIMIT: Readonly<Record<Architecture, number>> = { x64: 302, arm64: 261 };
const IOCTL: Readonly<Record<Architecture, number>> = { x64: 16, arm64: 29 };
const CLONE3 = 435;
const CLONE_THREAD = 0x00010000;
/** What `fork` of the C library passes: CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID and SIGCHLD. */
const FORK = 0x01200011;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const EPERM = 1;
const ENOSYS = 38;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_SET = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;

/** Offsets in `struct seccomp_data`. Arguments are little-endian on x64 and on arm64. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;

interface Instruction {
  code: number;
  onTrue: number;
  onFalse: number;
  operand: number;
}

const load = (offset: number): Instruction => ({ code: LOAD, onTrue: 0, onFalse: 0, operand: offset });
const answer = (value: number): Instruction => ({ code: RETURN, onTrue: 0, onFalse: 0, operand: value });
/** Jumps over `skip` instructions unless the test holds. */
const unless = (code: number, operand: number, skip: number): Instruction => ({ code, onTrue: 0, onFalse: skip, operand });
/** Jumps over the next instruction if the test holds. */
const when = (code: number, operand: number): Instruction => ({ code, onTrue: 1, onFalse: 0, operand });

const fail = (call: number, errno: number) => [unless(JUMP_EQUAL, call, 1), answer(FAIL | errno)];

/** What a process may begin: threads (a JavaScript engine cannot start without them), or copies of itself (whose number a limit on processes bounds). */
export type Begun = 'threads' | 'copies';

/**
 * Builds a filter that allows every call but those in the table, and some uses of `prlimit` and `ioctl`: these fail with EPERM. `clone` begins only what
 * `begun` names. A call of another architecture ends the process.
 */
export const buildSeccompFilter = (architecture: Architecture, begun: Begun): Buffer => {
  const { audit, foreign, calls } = TABLES[architecture];
  const clone = CLONE[architecture];
  const program: Instruction[] = [
    load(ARCHITECTURE),
    when(JUMP_EQUAL, audit),
    answer(KILL_PROCESS),
    load(NUMBER),
    ...(foreign === undefined ? [] : [unless(JUMP_AT_LEAST, foreign, 1), answer(KILL_PROCESS)]),
    ...Object.values(calls).flatMap((call) => fail(call, EPERM)),
    // The flags of clone3 are behind a pointer, which a filter cannot follow; the C library then falls back to clone.
    ...fail(CLONE3, ENOSYS),
    unless(JUMP_EQUAL, clone, 4),
    load(ARGUMENT_0),
    when(begun === 'threads' ? JUMP_SET : JUMP_EQUAL, begun === 'threads' ? CLONE_THREAD : FORK),
    answer(FAIL | EPERM),
    answer(ALLOW),
    // A process may limit itself and no other.
    unless(JUMP_EQUAL, PRLIMIT[architecture], 4),
    load(ARGUMENT_0),
    when(JUMP_EQUAL, 0),
    answer(FAIL | EPERM),
    answer(ALLOW),
    unless(JUMP_EQUAL, IOCTL[architecture], 4),
    load(ARGUMENT_1),
    when(JUMP_EQUAL, TIOCSTI),
    unless(JUMP_EQUAL, TIOCLINUX, 1),
    answer(FAIL | EPERM),
    answer(ALLOW),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, onTrue, onFalse, operand }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(onTrue, index * 8 + 2);
    bytes.writeUInt8(onFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
};
