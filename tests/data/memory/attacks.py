"""Take memory in a way that is hard to count: attacks.py ATTACK MEBIBYTES.

Each attack says how much it has taken so far ("took N", in MiB) after about every MiB, with enough padding that
a reader who lags behind makes it wait. It ends with "all" when it has taken everything, or with "refused" and
exit status 3 if the sandbox does not let it begin.
"""
import ctypes
import fcntl
import mmap
import os
import select
import socket
import sys
import threading

MIB = 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
kept = []
target = int(sys.argv[2]) * MIB
taken = told = 0


def took(n):
    global taken, told
    taken += n
    if taken - told >= MIB:
        told = taken
        os.write(1, b"took %d %s\n" % (taken // MIB, b"." * 2000))
    return taken < target


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
        signal_wait()
    took(40 * MIB)
    take_pages()


def signal_wait():
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
    """Many small mappings in many processes: other rights for each second one, so that they stay apart."""
    per_process, each = 60000, 256
    while True:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            for i in range(per_process):
                libc.mmap(None, ctypes.c_size_t(4096), i % 2, 0x22, -1, ctypes.c_long(0))
                if i % 4000 == 3999:
                    os.write(writer, b"x")
            os.write(writer, b"e")
            signal_wait()
        os.close(writer)
        while (said := os.read(reader, 1)) == b"x":
            if not took(4000 * each):
                return
        os.close(reader)


def fill(end, size):
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    try:
        while took(end.send(b"x" * size)):
            pass
    except BlockingIOError:
        pass


def fill_pairs(kind, size):
    while taken < target:
        pair = socket.socketpair(socket.AF_UNIX, kind)
        kept.append(pair)
        for end in pair:
            fill(end, size)


def streams():
    fill_pairs(socket.SOCK_STREAM, 32 << 10)


def datagrams():
    fill_pairs(socket.SOCK_DGRAM, 100 << 10)


def tcp():
    listener = socket.create_server(("127.0.0.1", 0))
    while taken < target:
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
        kept.append((client, server))
        for end in (client, server):
            fill(end, 64 << 10)


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
    """Datagrams that are never finished, in as many processes as that takes."""
    while taken < target:
        reader, writer = os.pipe()
        if os.fork() == 0:
            for _ in range(900):
                end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                end.sendto(b"x" * 65000, socket.MSG_MORE, ("127.0.0.1", 9))
                kept.append(end)
                os.write(writer, b"x")
            os.close(writer)
            signal_wait()
        os.close(writer)
        while os.read(reader, 1):
            if not took(65000):
                return


def pipes():
    """Full ones, in as many processes as that takes."""
    while taken < target:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            for _ in range(400):
                ends = os.pipe()
                kept.append(ends)
                os.set_blocking(ends[1], False)
                n = 0
                try:
                    while True:
                        n += os.write(ends[1], b"x" * 4096)
                except BlockingIOError:
                    pass
                os.write(writer, n.to_bytes(4, "little"))
            os.write(writer, bytes(4))
            signal_wait()
        os.close(writer)
        while n := int.from_bytes(os.read(reader, 4), "little"):
            if not took(n):
                return
        os.close(reader)


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
        for at in range(1000):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)
        if not took(1000 * each):
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
