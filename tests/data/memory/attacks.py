"""Take memory in a way that is hard to count: attacks.py ATTACK MEBIBYTES.

Each attack reports how much it has taken so far ("took N", in MiB) after every MiB. A report fills the pipe, so
the attack waits until the keeper has read the one before: a keeper that gets no CPU time does not let it run ahead.
It ends with "all" when it has taken everything, or with "refused" and exit status 3 if the sandbox does not let it
begin.
"""
import ctypes
import fcntl
import mmap
import os
import select
import signal
import socket
import sys
import threading

MIB = 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
kept = []
target = int(sys.argv[2]) * MIB
taken = told = 0
REPORT_EVERY, PIPE_BYTES = MIB, 64 << 10


def took(n):
    global taken, told
    taken += n
    if taken - told >= REPORT_EVERY or taken >= target:
        told = taken
        os.write(1, (b"took %d " % (taken // MIB)).ljust(PIPE_BYTES - 1, b".") + b"\n")
    return taken < target


def in_processes(steps):
    """Take memory in as many processes as needed, each with its own descriptors. @steps yields how much it took, and
    goes on when that was reported."""
    while taken < target:
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            for n in steps():
                theirs.send(n.to_bytes(4, "little"))
                theirs.recv(1)
            theirs.send(bytes(4))
            wait_for_ever()
        theirs.close()
        while n := int.from_bytes(ours.recv(4), "little"):
            if not took(n):
                return
            ours.send(b"x")
        ours.close()


def refused(why):
    os.write(1, b"refused: %s\n" % str(why).encode())
    os._exit(3)


def take_pages():
    while took(MIB):
        kept.append(bytearray(b"x") * MIB)


def plain():
    take_pages()


def leader():
    """The first thread exits: its process shows no memory of its own any more."""

    def go_on():
        take_pages()
        end()

    # Both run until the first one is gone; the second one waits for that.
    def wait_and_go_on():
        while "\nRssAnon" in open("/proc/%d/status" % os.getpid()).read():
            pass
        go_on()

    threading.Thread(target=wait_and_go_on).start()
    libc.syscall(60, 0)


def undumpable():
    """Two processes that share their pages, and may not be looked into."""
    if libc.prctl(4, 0, 0, 0, 0) != 0:
        refused("prctl")
    kept.append(bytearray(b"x") * (40 * MIB))
    if os.fork() == 0:
        wait_for_ever()
    took(40 * MIB)
    take_pages()


def wait_for_ever():
    while True:
        select.select([], [], [])


def shared(flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, fd=-1):
    """Shared memory whose pages are in no process's table."""
    while True:
        at = libc.mmap(None, ctypes.c_size_t(MIB), 3, flags, fd, ctypes.c_long(0))
        if at in (None, ctypes.c_void_p(-1).value):
            refused("mmap")
        ctypes.memset(at, 1, MIB)
        libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(MIB), 4)
        if not took(MIB):
            return


def shared_zero():
    """The same by a device."""
    try:
        fd = os.open("/dev/zero", os.O_RDWR)
    except OSError as error:
        refused(error)
    shared(mmap.MAP_SHARED, fd)


def tables():
    """One page table for each page that is read."""
    huge = 2 * MIB
    size = target // 4096 * huge
    at = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, ctypes.c_long(0))
    if at in (None, ctypes.c_void_p(-1).value):
        refused("mmap")
    libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 15)
    byte = ctypes.c_char
    while True:
        byte.from_address(at).value
        at += huge
        if not took(4096):
            return


def mappings():
    """Many small mappings: other rights for each second one, so that they stay apart."""
    at_once, each = 4000, 256

    def steps():
        for _ in range(15):
            for i in range(at_once):
                libc.mmap(None, ctypes.c_size_t(4096), i % 2, 0x22, -1, ctypes.c_long(0))
            yield at_once * each

    in_processes(steps)


def fill(end, size):
    """Yields the size of each message."""
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    try:
        while True:
            yield end.send(b"x" * size)
    except BlockingIOError:
        pass


def fill_pairs(kind, size):
    for _ in range(100):
        pair = socket.socketpair(socket.AF_UNIX, kind)
        kept.append(pair)
        for end in pair:
            yield sum(fill(end, size))


def streams():
    in_processes(lambda: fill_pairs(socket.SOCK_STREAM, 32 << 10))


def datagrams():
    in_processes(lambda: fill_pairs(socket.SOCK_DGRAM, 100 << 10))


def tcp():
    listener = socket.create_server(("127.0.0.1", 0))
    while taken < target:
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
        kept.append((client, server))
        for end in (client, server):
            for n in fill(end, 64 << 10):
                if not took(n):
                    return


def backlog():
    """Connections that are filled and closed, and that nothing accepts."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=4000)
    while taken < target:
        client = socket.create_connection(listener.getsockname())
        client.setblocking(False)
        try:
            client.send(b"x" * 100000)
        except BlockingIOError:
            pass
        client.close()
        took(100000)


def corks():
    """Datagrams that are never finished."""

    def steps():
        for _ in range(900):
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.sendto(b"x" * 65000, socket.MSG_MORE, ("127.0.0.1", 9))
            kept.append(end)
            yield 65000

    in_processes(steps)


def fill_pipe():
    ends = os.pipe()
    kept.append(ends)
    os.set_blocking(ends[1], False)
    n = 0
    try:
        while True:
            n += os.write(ends[1], b"x" * 4096)
    except BlockingIOError:
        return n


def pipes():
    in_processes(lambda: (fill_pipe() for _ in range(400)))


def items():
    """A file is entered under every number that it ever had."""
    each, numbers = 210, range(500, 1000)
    sets = [select.epoll() for _ in range(20)]
    while True:
        file = os.eventfd(0)
        kept.append(file)
        for number in numbers:
            os.dup2(file, number)
            for epoll in sets:
                epoll.register(number, select.EPOLLIN)
            if not took(len(sets) * each):
                return


def locks():
    """Locks of single bytes that do not touch each other."""
    each = 200
    for n in range(900):
        file = open("/tmp/lock-%d" % n, "w")
        kept.append(file)
        for at in range(560):  # the time is quadratic in this number
            fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)
        if not took(560 * each):
            return


def blind():
    """The keeper may open nothing more: it has the descriptors below 9, and may wait for as many."""

    class Limit(ctypes.Structure):
        _fields_ = [("soft", ctypes.c_ulong), ("hard", ctypes.c_ulong)]

    # Process 1 by another number, which the kernel cuts to 32 bits.
    for pid in (1, 1 << 32 | 1):
        libc.syscall(302, ctypes.c_ulong(pid), 7, ctypes.byref(Limit(9, 9)), None)
    take_pages()


def end():
    os.write(1, b"all\n")
    os._exit(0)


globals()[sys.argv[1]]()
end()
