# SPDX-License-Identifier: GPL-2.0
"""What a test VM boots: a fetched kernel, its modules, and an initramfs made for one run."""

import lzma
import os
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
GUEST_MODULES = ('virtio_pci', 'virtio_console', '9pnet_virtio', '9p', 'overlay')
GUEST_APPLETS = ('sh', 'mount', 'insmod', 'mkdir', 'ln', 'cat', 'chroot', 'mkfifo', 'env', 'setsid',
                 'poweroff', 'ifconfig', 'hostname', 'stty', 'dmesg', 'tail')


class Broken(Exception):
    """The VM cannot be set up: exit status 125."""


def capture(command, what):
    """The last line that a helper prints on stdout; its stderr is ours."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False)
    except OSError as e:
        raise Broken(f'{what}: {command[0]}: {e.strerror}') from e
    lines = done.stdout.split('\n')
    if done.returncode or not lines[0]:
        raise Broken(f'{what} failed: {shlex.join(command)} (status {done.returncode})')
    return [line for line in lines if line][-1]


class Kernel:
    """A fetched kernel and its modules, decompressed into its own cache directory on first use."""

    def __init__(self, version):
        self.dir = capture([os.path.join(HERE, 'fetch-kernel'), version], f'fetching kernel {version}')
        with open(os.path.join(self.dir, 'abi'), encoding='ascii') as f:
            self.abi = f.read().strip()
        self.image = os.path.join(self.dir, 'boot', f'vmlinuz-{self.abi}')
        self.modules = os.path.join(self.dir, 'lib', 'modules', self.abi)
        self.deps = {}
        with open(os.path.join(self.modules, 'modules.dep'), encoding='ascii') as f:
            for line in f:
                path, deps = line.split(':')
                self.deps[self.name(path)] = [path, *reversed(deps.split())]

    @staticmethod
    def name(path):
        return os.path.basename(path).split('.ko')[0].replace('-', '_')

    def load_order(self, names):
        """Paths, dependencies first, of modules; a name modules.dep lacks is built in."""
        order = []
        for name in names:
            path, *deps = self.deps.get(name.replace('-', '_'), [None])
            order += [p for p in (*deps, path) if p and p not in order]
        return order

    def module(self, path):
        """The content of a module."""
        plain = os.path.join(self.dir, 'ko', self.name(path) + '.ko')
        source = os.path.join(self.modules, path)
        if path.endswith('.ko'):
            plain = source
        elif not os.path.exists(plain):
            if not path.endswith('.xz'):
                raise Broken(f'{path}: unknown compression')
            os.makedirs(os.path.dirname(plain), exist_ok=True)
            with lzma.open(source) as f, open(f'{plain}.{os.getpid()}', 'wb') as g:
                shutil.copyfileobj(f, g)
            os.rename(f'{plain}.{os.getpid()}', plain)
        with open(plain, 'rb') as f:
            return f.read()


class Cpio:
    """A cpio archive in the newc format, as the kernel unpacks it."""

    def __init__(self):
        self.parts = []
        self.ino = 0

    def add(self, name, mode, data=b''):
        self.ino += 1
        fields = (self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b'070701' + b''.join(b'%08X' % f for f in fields) + name.encode() + b'\0'
        self.parts += [head, b'\0' * (-len(head) % 4), data, b'\0' * (-len(data) % 4)]

    def file(self, name, data, mode=0o644):
        self.add(name, 0o100000 | mode, data)

    def write(self, path):
        self.add('TRAILER!!!', 0)
        with open(path, 'wb') as f:
            f.writelines(self.parts)


def sh_quote(data):
    return b"'" + os.fsencode(data).replace(b"'", b"'\\''") + b"'"


def command_script(args, sim):
    """The shell script that becomes COMMAND: single quotes keep every byte as it is."""
    env = {
        'PATH': os.path.join(TOP, 'build', 'tools') + ':/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': os.environ.get('HOME', '/root'),
        'TERM': os.environ.get('TERM', 'dumb'),
        'LANG': 'C.UTF-8',
        'USER': 'root',
        'LOGNAME': 'root',
    }
    env.update((k, v) for k, v in os.environ.items() if k.startswith('KFDPRIO_'))
    env.update(KFDPRIO_VM='1', KFDPRIO_SIM_GPU=args.gpu, KFDPRIO_SIM_KO=sim or '')
    env.update(text.split('=', 1) for text in args.env)
    command = args.command or (['bash', '-i'] if args.interactive else ['bash', '-s'])
    script = [b'cd ', sh_quote(os.getcwd()), b' || exit 126\nexec env -i']
    script += [b' ' + sh_quote(f'{k}={v}') for k, v in env.items()]
    # an argument like A=B would be env's; sh -c passes it on, and gives 126 and 127 their meaning
    script += [b" /bin/sh -c 'exec \"$@\"' sh"]
    script += [b' ' + sh_quote(c) for c in command]
    return b''.join(script) + b'\n'


def module_depends(ko):
    done = subprocess.run(['modinfo', '-F', 'depends', ko], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f'{ko}: {done.stderr.strip()}')
    return [name for name in done.stdout.strip().split(',') if name]


def write_initrd(path, args, kernel, sim):
    cpio = Cpio()
    for d in ('bin', 'dev', 'ko', 'vm', 'vm/sim'):
        cpio.add(d, 0o040755)
    with open('/bin/busybox', 'rb') as f:
        cpio.file('bin/busybox', f.read(), 0o755)
    for applet in GUEST_APPLETS:
        cpio.add(f'bin/{applet}', 0o120777, b'busybox')
    for name, target in (('init', 'init'), ('guest', 'vm/guest')):
        with open(os.path.join(HERE, name), 'rb') as f:
            cpio.file(target, f.read(), 0o755)
    for i, module in enumerate(kernel.load_order(GUEST_MODULES)):
        cpio.file(f'ko/{i:02}-{kernel.name(module)}.ko', kernel.module(module))

    conf = {'VM_ABI': kernel.abi, 'VM_MODULES': kernel.modules, 'VM_GPU': args.gpu, 'VM_SIM': sim or '',
            'VM_SIM_DEPS': '', 'VM_SIM_PARAMS': ' '.join(args.param), 'VM_OUTS': str(len(args.out)),
            'VM_SHELL': '1' if args.interactive else '', 'VM_STTY': '', 'VM_STDIN': '/dev/null'}
    conf.update((f'VM_OUT_{i}', d) for i, d in enumerate(args.out))
    ours = [os.getcwd(), TOP, kernel.dir, sim or '/', *args.out, *args.command]
    conf['VM_COVER'] = ' '.join(d for d in ('tmp', 'run')
                                if not any(p == f'/{d}' or p.startswith(f'/{d}/') for p in ours))
    if sim:
        order = kernel.load_order(module_depends(sim))
        for module in order:
            cpio.file(f'vm/sim/{kernel.name(module)}.ko', kernel.module(module))
        conf['VM_SIM_DEPS'] = ' '.join(kernel.name(m) + '.ko' for m in order)
    if args.interactive:
        size = os.get_terminal_size(sys.stdin.fileno())
        conf['VM_STTY'] = f'rows {size.lines} cols {size.columns}'
    elif not args.command:
        cpio.file('vm/stdin', sys.stdin.buffer.read())
        conf['VM_STDIN'] = '/run/kfdprio-vm/stdin'
    cpio.file('vm/conf', b''.join(k.encode() + b'=' + sh_quote(v) + b'\n' for k, v in conf.items()))
    cpio.file('vm/command', command_script(args, sim))
    cpio.write(path)
